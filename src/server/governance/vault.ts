/** The tokens of servers: where they are kept, who gets which, and where people allow their use. */
import {
  type AuditTrail,
  type Blocks,
  LOCAL,
  type Principal,
  type TokenRevoker,
  type UpstreamCredentials,
  type UpstreamTokenFilter,
} from "../../contract/index.ts";
import { createEgress } from "../../mechanisms/egress/index.ts";
import { createSeal, type FoundToken, MemoryTokenRows, TokenVault } from "../../mechanisms/vault/index.ts";
import {
  ConsentDesk,
  ConsentNotes,
  type IssuedToken,
  KeptTokens,
  type OAuthSettings,
  revokeAll,
  SubjectTokens,
  Tickets,
  type TokenPair,
  UpstreamOAuth,
} from "../../mechanisms/vault/upstream-oauth/index.ts";
import { isAuthOn } from "../config/auth-config.ts";
import type { Config, ListenAddress, ServerConfig } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import { sealOptions } from "../gateway-options.ts";
import type { GatewayState } from "../state/index.ts";
import {
  baseUrl,
  consentCheck,
  isLoopbackHost,
  onceOf,
  openKeys,
  ownDocument,
  settingsOf,
  tokensOf,
} from "./vault-settings.ts";

export type VaultOptions = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  readonly audit: AuditTrail;
  readonly blocks: Pick<Blocks, "isUpstreamRevoked" | "isBlocked">;
  /** Whose token has this hash; undefined: nobody knows. */
  readonly bearerOf: (hash: string) => Promise<Principal | undefined>;
};

export type GovernedVault = TokenRevoker & {
  readonly desk: ConsentDesk;
  /** Undefined: the server gets only what its headers say. */
  credentialsFor(server: ServerConfig): UpstreamCredentials | undefined;
  /** A caller has proved itself with this token. */
  onProven(principal: Principal, token: string): void;
  /** Where browsers reach this process, unless a setting says otherwise. */
  listensOn(address: ListenAddress): void;
  apply(config: Config): void;
  open(): Promise<void>;
  close(): Promise<void>;
};

const TOPIC = "upstream-tokens";
const SWEEP_MS = 60_000;
/** How many tokens are remembered at once that their issuers have to take back. */
const MAX_REVOKED = 10_000;
/** What several processes know of a token may be that old: a word about a change may be lost. */
const SHARED_TRUST_MS = 5000;

export function createVault(options: VaultOptions): GovernedVault {
  const { state, timers, log, audit, blocks, bearerOf } = options;
  let { config } = options;
  let listen = config.gateway.listen;
  const memory = state ? undefined : new MemoryTokenRows();
  const now = Date.now;
  const write = state ? state.records.write.bind(state.records) : (memory?.write ?? (async () => false));
  const vault = new TokenVault({
    rows: state?.records.upstreamTokens ?? memory ?? new MemoryTokenRows(),
    write,
    audit: memory ? notedTrail(audit, memory) : audit,
    keys: onceOf(() => openKeys(config, state)),
    now,
  });
  const subjects = new SubjectTokens(now);
  const egress = createEgress();
  const servers = new Map<string, UpstreamOAuth>();
  const readingFor = ({ settings: { url, issuer } }: { settings: OAuthSettings }) => ({
    egress,
    trust: {
      origins: [url.origin, ...(issuer === undefined ? [] : [new URL(issuer).origin])],
      loopback: isLoopbackHost(url.hostname),
    },
  });
  const desk = new ConsentDesk({
    tickets: new Tickets(createSeal(sealOptions(config.gateway, state?.clusterKey)), now),
    baseUrl: () => baseUrl(config, listen),
    serverOf: (id) => servers.get(id),
    readingFor,
    now,
    mayConsent: consentCheck({ blocks, tokens: config.auth.tokens ? state?.records.tokens : undefined, now }),
    notes: new ConsentNotes(audit, now),
  });

  function tell(server: string, id: string, isGranted: boolean): void {
    state?.shared.channel.publish(TOPIC, JSON.stringify({ server, id, isGranted }));
  }

  function hear(text: string): void {
    const { server, id, isGranted } = JSON.parse(text) as { server: string; id: string; isGranted: boolean };
    servers.get(server)?.drop(id);
    if (isGranted) servers.get(server)?.tellGranted(id);
  }

  function createCredentials(server: ServerConfig, auth: NonNullable<ServerConfig["auth"]>): UpstreamOAuth {
    const settings = settingsOf(server, auth, ownDocument(baseUrl(config, listen)));
    const { riskClass } = auth;
    const reading = readingFor({ settings });
    const isShared = settings.type === "client_credentials" || !isAuthOn(config.auth);
    return new UpstreamOAuth({
      settings,
      riskClass,
      reading,
      now,
      tokens: new KeptTokens({ ...reading, settings, riskClass, vault, timers, now }),
      common: isShared ? { principal: LOCAL, session: "" } : undefined,
      trustMs: state?.clusterKey === undefined ? Number.POSITIVE_INFINITY : SHARED_TRUST_MS,
      link: (id, holder, wanted) => desk.link(id, holder, wanted),
      onChange: (id, isGranted) => tell(server.id, id, isGranted),
      subjectTokenOf: (principal) => subjects.of(principal),
      isRevoked: (hash) => blocks.isUpstreamRevoked(hash),
      releaseSession: (session) => void forget({ server: server.id, session }, "its session is over").catch(complain),
    });
  }

  function complain(cause: unknown): void {
    log.warn("tokens of servers could not be forgotten", { cause });
  }

  /** First all of them here, then also where they were issued, as far as that can be reached. Unset: all are meant. */
  async function forget(filter: UpstreamTokenFilter, reason: string, isMeant?: (pair: TokenPair) => boolean) {
    const removed: IssuedToken[] = [];
    const remove = async ({ row, text }: FoundToken) => {
      const pair = text === undefined ? undefined : (JSON.parse(text) as TokenPair);
      if (isMeant && !(pair && isMeant(pair))) return;
      await vault.remove(row, reason);
      const credentials = servers.get(row.server);
      credentials?.drop(row.id);
      tell(row.server, row.id, false);
      if (!credentials || !pair) return;
      if (removed.length < MAX_REVOKED) removed.push({ pair, settings: credentials.settings });
      else log.warn("a token was not revoked where it was issued: there are too many", { server: row.server });
    };
    try {
      for await (const page of vault.find(filter)) await Promise.all(page.map(remove));
    } finally {
      await revokeAll(removed, readingFor, (server, cause) =>
        log.warn("a token could not be revoked where it was issued", { server, cause }),
      );
    }
  }

  let sweeper: { cancel(): void } | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;
  let isClosed = false;

  function scheduleSweep(): void {
    sweeper = timers.after(SWEEP_MS, () => {
      if (servers.size > 0) vault.sweep().catch(complain);
      if (!isClosed) scheduleSweep();
    });
  }

  return {
    desk,
    credentialsFor(server) {
      if (!server.auth) return undefined;
      const credentials = createCredentials(server, server.auth);
      servers.set(server.id, credentials);
      return credentials;
    },
    onProven(principal, token) {
      if (config.servers.some(({ auth }) => auth?.type === "exchange")) subjects.show(principal, token);
    },
    listensOn(address) {
      listen = address;
    },
    apply(next) {
      config = next;
      for (const id of servers.keys()) {
        if (!next.servers.some((server) => server.id === id && server.auth)) servers.delete(id);
      }
    },
    async revokeTokensOf(block) {
      const bearer = block.subject === "client" ? await bearerOf(block.key) : undefined;
      for (const { filter, isMeant } of tokensOf(block, bearer)) await forget(filter, "it was revoked", isMeant);
    },
    async open() {
      scheduleSweep();
      unsubscribe = await state?.shared.channel.subscribe(TOPIC, hear);
    },
    async close() {
      isClosed = true;
      sweeper?.cancel();
      await unsubscribe?.();
    },
  };
}

/** What nothing outlives is written to memory alone, and noted all the same. */
function notedTrail(audit: AuditTrail, { write }: MemoryTokenRows): AuditTrail {
  return {
    note: (event) => audit.note(event),
    commit(event, changes) {
      audit.note(event);
      return write(changes);
    },
  };
}
