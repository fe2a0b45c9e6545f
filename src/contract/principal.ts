/** Who calls. `caller` appears only in prose. */
export type Principal = {
  /** Stands for it in sessions, tasks, records and logs; never given to two. */
  readonly id: string;
  /** What policies, limits and the audit trail know of it; unset: the local user of a gateway that asks nobody who they are. */
  readonly identity?: Identity;
};

/** What a caller may do to the gateway itself; each may do what the former may. */
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** By which what is said about callers means one. */
export type CallerNames = {
  readonly id: string;
  readonly user: string;
  readonly client: string;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  /** Of the gateway's own token by which it was known; unset: it was known otherwise. */
  readonly tokenHash?: string;
};

export type Identity = {
  readonly tenant: string;
  /** "" where only a program calls. */
  readonly user: string;
  /** Which client acts for the user: a hash of its token, or the id it has at its issuer. */
  readonly client: string;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  /** Undefined: it may call, and not look into the gateway. */
  readonly role: Role | undefined;
  /** How it was proved. */
  readonly proof: "none" | "local" | "token" | "oidc" | "certificate";
  /** Of the token it was proved with: SHA-256, in hex. */
  readonly tokenHash?: string;
  /** Of the same token as whoever has it can spell it, too; unset: it has one spelling. */
  readonly twinHash?: string;
  /** Who made this token, and who made theirs, by `makerName`; unset: whoever runs the gateway. */
  readonly makers?: readonly string[];
  /** Whose word it is that this is its user, its client and these are its groups; unset: the platform's. */
  readonly namedBy?: "tenant";
  /** What those of its tenant are called who made its token: what the platform denies to them it denies to it; unset: nobody. */
  readonly makerNames?: readonly CallerNames[];
  /** Its proof is for single endpoints, not for the gateway: it then has no role, whatever else it says. */
  readonly isForEndpoints?: true;
  /** When the proof is worth nothing any more, in ms of everybody's clock. */
  readonly expiresAt?: number;
};

export const DEFAULT_TENANT = "default";

/** Whoever can reach the loopback interface, or the pipe of a process they started, of a gateway without authentication. */
const LOCAL_IDENTITY: Identity = {
  tenant: DEFAULT_TENANT,
  user: "local",
  client: "local",
  groups: [],
  scopes: ["*"],
  role: "admin",
  proof: "local",
};

/** Nobody else may be known by this name: what the local user may and has would be theirs. */
export function isLocalUser({ tenant, user }: Pick<Identity, "tenant" | "user">): boolean {
  return tenant === LOCAL_IDENTITY.tenant && user === LOCAL_IDENTITY.user;
}

export const LOCAL: Principal = { id: "local", identity: LOCAL_IDENTITY };

/** Whether somebody may change the gateway, as far as their role goes: to be on its machine is not enough for that. */
export function canChange(principal: Principal): boolean {
  return identityOf(principal).proof !== "local";
}

/** Whoever asks for what is open to all of a gateway that asks everybody else who they are. */
export const ANONYMOUS: Principal = {
  id: "anonymous",
  identity: { ...LOCAL_IDENTITY, user: "", client: "", scopes: [], role: undefined, proof: "none" },
};

/** Whether somebody may do to the gateway what takes this role. */
export function hasRole(principal: Principal, role: Role): boolean {
  const { role: own } = identityOf(principal);
  return own !== undefined && ROLES.indexOf(own) >= ROLES.indexOf(role);
}

/** Another process of this gateway, which wants something for its clients and has found out who they are. */
export const PEER: Principal = {
  id: "peer",
  identity: { ...LOCAL_IDENTITY, user: "", client: "peer", role: undefined },
};

/**
 * Who vouches for a principal: this machine, the gateway's own tokens, certificates, or an issuer. Ids begin with it; behind an
 * issuer stand the subject and the client, neither with a colon. Of two sources nobody is the same, whatever they are called.
 */
export function sourceOf({ id }: Pick<Principal, "id">): string {
  if (id.startsWith("oidc:")) return /^(.+):[^:]*:[^:]*$/.exec(id)?.[1] ?? id;
  const end = id.indexOf(":");
  return end < 0 ? id : id.slice(0, end);
}

export function identityOf({ identity }: Principal): Identity {
  return identity ?? LOCAL_IDENTITY;
}
