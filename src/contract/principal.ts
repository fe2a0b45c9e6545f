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

export const LOCAL: Principal = { id: "local", identity: LOCAL_IDENTITY };

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

export function identityOf({ identity }: Principal): Identity {
  return identity ?? LOCAL_IDENTITY;
}
