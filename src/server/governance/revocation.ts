/** What was given is taken back: the block list, who hears of it, and what ends here because of it. */
import { createPublicKey } from "node:crypto";
import type { AuditTrail, Block, Call, Operation, Principal, TokenRevoker } from "../../contract/index.ts";
import type { LivePolicy } from "../../mechanisms/access/index.ts";
import type { AccessOperationParts } from "../../mechanisms/access/operations/parts.ts";
import {
  BlockList,
  ownWords,
  type RevocationFeed,
  SignedRevocations,
  sharedWords,
} from "../../mechanisms/identity/revocation/index.ts";
import type { Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";
import type { LiveParts } from "./live-parts.ts";
import { endSwitchedOff, watchSwitches } from "./switched-off.ts";

export type RevocationOptions = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  readonly live: LiveParts;
  readonly trail: () => AuditTrail;
  readonly policy: LivePolicy;
  /** What was kept of somebody is forgotten, and taken back where it was issued. */
  readonly revokers: () => readonly TokenRevoker[];
  /** What operations know of servers and of what they offer. */
  readonly accessParts: () => AccessOperationParts;
  /** Whether a call that runs is about something from which its caller is blocked, however it was named. */
  readonly isBlockedCall: (call: Call) => boolean;
  /** Hears that somebody is blocked, or is not any more. */
  readonly onChange: () => void;
};

export type Revocation = {
  readonly blocks: BlockList;
  operations(): Promise<readonly Operation[]>;
  apply(config: Config): void;
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createRevocation(options: RevocationOptions): Revocation {
  const { state, live, log } = options;
  let feeds = feedsOf(options.config);
  const blocks: BlockList = new BlockList({
    ...options,
    now: Date.now,
    rows: state?.records.blocks,
    channel: state?.shared.channel,
    onChange: options.onChange,
    onBlocked: (fresh) => {
      endBlocked(blocks, options);
      for (const block of fresh) {
        log.info("revoked", { block: block.id, subject: block.subject, server: block.server, reason: block.reason });
        revokeTokens(block);
      }
    },
  });
  function revokeTokens(block: Block): void {
    // What is left of the server needs them.
    if (block.primitive !== "") return;
    for (const revoker of options.revokers()) {
      revoker
        .revokeTokensOf(block)
        .catch((cause: unknown) => log.warn("tokens could not be revoked", { block: block.id, cause }));
    }
  }
  watchSwitches(options.policy, (block) => {
    endSwitchedOff(block, live);
    revokeTokens(block);
  });
  const signed = new SignedRevocations(Date.now, state ? sharedWords(state.shared.entries) : ownWords(Date.now));
  return {
    blocks,
    async operations() {
      const { revocationOperations } = await import("../../mechanisms/identity/revocation/revocation-operations.ts");
      const tokens = state?.records.tokens;
      const { isOfferedAt, placeFault } = await import("../../mechanisms/access/operations/index.ts");
      // One that is left out for a while may come back, and somebody may have to be kept from it then.
      const isLeftOut = (id: string) => live.config().disabled.includes(id);
      const known = (): AccessOperationParts => {
        const parts = options.accessParts();
        return { ...parts, hasServer: (id) => parts.hasServer(id) || isLeftOut(id) };
      };
      const { trail } = options;
      return revocationOperations({
        ...{ blocks, signed, feeds: () => feeds, now: Date.now, trail, tokens, log },
        places: {
          faultOf: (by, place) => placeFault(known(), by, place),
          isOffered: (by, place) => isOfferedAt(known(), by, place),
        },
      });
    },
    apply(config) {
      feeds = feedsOf(config);
    },
    open: () => blocks.open(),
    close: () => blocks.close(),
  };
}

function feedsOf(config: Config): readonly RevocationFeed[] {
  return config.auth.revocationFeeds.map(({ id, keys, tenants, audience }) => ({
    id,
    keys: keys.map((key) => createPublicKey(key)),
    tenants,
    audience,
  }));
}

/** Sessions, streams and calls of whoever is blocked. */
function endBlocked(blocks: BlockList, { live, isBlockedCall }: RevocationOptions): void {
  const { sessions, runs, dropStreams } = live;
  const reason = "the caller's access was revoked";
  const isRevoked = (principal: Principal) => blocks.isRevoked(principal) !== undefined;
  for (const run of runs()) {
    const { principal, target, origin } = run.call;
    if (blocks.of(principal).length === 0) continue;
    // For the processes that send calls here, nobody judges: what is said of a whole server is about theirs, too.
    const isAtServer = blocks.isBlocked(principal, target.provider, origin.front, "") !== undefined;
    if (isAtServer || isBlockedCall(run.call)) run.cancel(reason);
  }
  sessions.endWhere(({ principal, catalog }) => blocks.isBlocked(principal, catalog, "mcp", "") !== undefined, reason);
  dropStreams(isRevoked);
}
