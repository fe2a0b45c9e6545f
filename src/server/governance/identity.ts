/** Makes of `[auth]` what finds out who calls, and says at the start which ways there are. */
import type {
  AuditEvent,
  AuditTrail,
  Block,
  Log,
  Operation,
  Principal,
  Timer,
  TokenRow,
} from "../../contract/index.ts";
import {
  Identity,
  IssuerKeys,
  JwtVerifier,
  principalOfToken,
  Resource,
  readJson,
} from "../../mechanisms/identity/index.ts";
import { type BlockList, makeBlock } from "../../mechanisms/identity/revocation/index.ts";
import type { TokenParts } from "../../mechanisms/identity/token-operations.ts";
import { authWays, type Config, isAuthOn, isLoopback } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";

export type IdentityPorts = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  readonly audit: AuditTrail;
  readonly blocks: BlockList;
  /** What the platform has said about one of this name in a tenant; undefined: nothing. */
  readonly namedByPlatform: TokenParts["namedByPlatform"];
  /** Hears whose token was found good. */
  readonly onProven: (principal: Principal, token: string) => void;
};

export type IdentityParts = {
  /** Unset: everybody who can connect is the local user. */
  readonly authenticator?: Identity;
  operations(): Promise<readonly Operation[]>;
  /** Whose token has this hash: one that was given out here, or one that somebody came with. Looks first, then waits. */
  bearerOf(hash: string): Promise<Principal | undefined>;
  open(): void;
  close(): void;
};

/** How often tokens that have expired are cleared away. */
const SWEEP_MS = 60 * 60_000;

export function createIdentity(ports: IdentityPorts): IdentityParts {
  const { config, state, log, timers } = ports;
  const identity = isAuthOn(config.auth) ? identityOf(ports) : undefined;
  const tokens = state?.records.tokens;
  /** Whose tokens are being revoked: their rows may be gone before anybody asks. */
  const leaving = new Map<string, Principal>();
  let timer: Timer | undefined;
  const sweep = () => {
    tokens?.expire(Date.now()).catch((cause: unknown) => log.debug("expired tokens not cleared", { cause }));
    timer = timers.after(SWEEP_MS, sweep);
  };
  return {
    ...(identity && { authenticator: identity }),
    operations: () => operationsOf(ports, identity, leaving),
    async bearerOf(hash) {
      const known = leaving.get(hash) ?? identity?.bearerOf(hash);
      if (known) return known;
      const row = await tokens?.find(hash);
      return row && principalOfToken(row);
    },
    open() {
      sayPolicy(config, log);
      if (tokens && config.auth.tokens) sweep();
    },
    close: () => timer?.cancel(),
  };
}

function identityOf({ config, state, audit, blocks, clock, log, onProven }: IdentityPorts): Identity {
  const { auth, gateway } = config;
  const issuers = auth.issuers.map((issuer) => ({
    ...issuer,
    audiences: issuer.audience,
    keys: new IssuerKeys({ issuer: issuer.url, clock, log, read: readJson }),
  }));
  return new Identity({
    clock,
    now: Date.now,
    log,
    audit,
    resource: new Resource({
      base: auth.resource,
      isTls: gateway.tls !== undefined,
      issuers: auth.issuers.map(({ url }) => url),
      scopes: auth.scopes,
    }),
    tokens: auth.tokens ? state?.records.tokens : undefined,
    issuers: issuers.length > 0 ? new JwtVerifier(issuers, Date.now) : undefined,
    certificates: auth.mtls,
    allowsLocal: auth.local,
    requiredScopes: auth.scopes,
    isRevoked: (principal) => blocks.isRevoked(principal) !== undefined,
    onProven,
  });
}

/** Tokens can be made before anybody is asked for one. */
async function operationsOf(
  { state, audit, log, blocks, namedByPlatform }: IdentityPorts,
  identity: Identity | undefined,
  leaving: Map<string, Principal>,
): Promise<readonly Operation[]> {
  if (!state) return [];
  const { tokenOperations } = await import("../../mechanisms/identity/token-operations.ts");
  return tokenOperations({
    rows: state.records.tokens,
    audit,
    log,
    now: Date.now,
    namedByPlatform,
    isHeldByPlatform: (bearer) => blocks.isHeldByPlatform(bearer),
    // The block reaches every process, which then ends what it has of the bearer.
    async onRevoke(bearer, row, by) {
      leaving.set(row.hash, bearer);
      try {
        await blocks.put(blockOf(row, by), revocationEvent(bearer, row, by));
      } finally {
        leaving.delete(row.hash);
      }
    },
    onRevoked: ({ hash }) => identity?.forget({ hash }),
  });
}

function blockOf({ id, user, hash, tenant, expiresAt }: TokenRow, by: Principal): Block {
  const reason = `token ${id} of ${user} was revoked`;
  const order = { subject: "client", key: hash, tenant, reason, source: "token" } as const;
  // One without an end is blocked for the least time: nobody is known by it once its row is gone, and blocks are bounded.
  return makeBlock({ ...order, until: expiresAt ?? Date.now() }, by.id, Date.now());
}

function revocationEvent({ id }: Principal, row: TokenRow, by: Principal): AuditEvent {
  return {
    type: "dev.isthmus.revocation.added",
    tenant: row.tenant,
    actor: { type: "operator", id: by.id },
    target: { server: "", name: "" },
    result: "SUCCESS",
    details: { subject: "client", key: row.hash, principal: id, token: row.id },
  };
}

function sayPolicy({ auth, gateway }: Config, log: Log): void {
  log.info("callers are known by", { ways: authWays(auth).join(", ") });
  if (isAuthOn(auth) && gateway.tls === undefined && !isLoopback(gateway.listen.host)) {
    log.warn("credentials travel in the clear unless something before the gateway speaks TLS");
  }
}
