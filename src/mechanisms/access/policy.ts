/** What an operator can say about who may do what, in one form, whether it stands in the config or was set while the gateway runs. */
import type { Evidence } from "../../contract/index.ts";
import type { AboutCaller } from "./about-caller.ts";
import type { FieldNames } from "./argument-names.ts";

/** Stands for every tenant, server or protocol. */
export const ANY = "*";

/** In MGP's words: one agent may, or may not, use a tool or all of a server. */
export type Grant = {
  readonly tenant: string;
  readonly type: "tool_grant" | "server_grant";
  /** An id, `*`, or what it begins with and `.*`. */
  readonly agent: string;
  readonly server: string;
  /** The server's own name of it; "" for a whole server. */
  readonly tool: string;
  readonly permission: "allow" | "deny";
  readonly grantedBy: string;
  /** Times are everybody's, in ms. */
  readonly grantedAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly justification: string;
};

/** In ASP's words: whoever the target names may, or may not, use what the primitive names over a protocol. */
export type Binding = {
  readonly tenant: string;
  readonly target: { readonly type: BindingTarget; readonly pattern: string };
  /** Dotted name, `*` stands for any text. */
  readonly primitive: string;
  readonly protocol: string;
  readonly allowed: boolean;
};

/** Where two bindings are equally exact, the one of the former kind goes before the other. */
export const BINDING_TARGETS = ["user", "client", "group"] as const;
export type BindingTarget = (typeof BINDING_TARGETS)[number];

/** A switch for a server, a catalog, or a primitive of one. */
export type Exposure = {
  readonly tenant: string;
  readonly server: string;
  readonly protocol: string;
  /** Dotted, or the server's own name; `*` stands for any text. "" for the server itself. */
  readonly primitive: string;
  readonly enabled: boolean;
};

/** What the caller's token must be good for. */
export type ScopeRule = { readonly match: string; readonly scopes: readonly string[] };

/** A rule about calls, which may look at their arguments. */
export type Rule = {
  /** For people: where it stands. */
  readonly id: string;
  readonly tenant: string;
  /** Dotted name, `*` stands for any text. */
  readonly match: string;
  readonly effect: "allow" | "deny" | "confirm";
  readonly evidence: Evidence;
  /** Unset: it holds for every call that it matches. */
  readonly condition: Condition | undefined;
};

/** Whether a rule holds. Throws where that cannot be said. */
export type Condition = {
  readonly text: string;
  /** The arguments that it asks for, as JSON writes their names; undefined: it may ask for any. */
  readonly names: readonly string[] | undefined;
  /** The members that it reads, in arguments and in what they hold. */
  readonly fields: FieldNames;
  /** What it says of the caller; undefined: it does not look at who calls. */
  readonly caller: AboutCaller | undefined;
  /** The patterns over paths and URIs that are written out in it. */
  readonly places: readonly string[];
  holds(facts: RuleFacts): boolean;
};

export type RuleFacts = {
  readonly args: unknown;
  readonly principal: Readonly<Record<string, unknown>>;
  /** The same without what its tenant calls it; unset: the platform has named it. */
  readonly unnamed?: Readonly<Record<string, unknown>> | undefined;
  /** Those who made its token, where they are of its tenant. */
  readonly makers?: readonly Readonly<Record<string, unknown>>[] | undefined;
  readonly tool: string;
  readonly server: string;
  readonly protocol: string;
};

export const DEFAULT_POLICIES = ["opt-in", "opt-out"] as const;
export type DefaultPolicy = (typeof DEFAULT_POLICIES)[number];

/** What holds for callers about whom nothing else was said. */
export type DefaultRule = { readonly tenant: string; readonly server: string; readonly policy: DefaultPolicy };

export type AccessPolicy = {
  readonly grants: readonly Grant[];
  readonly bindings: readonly Binding[];
  readonly exposures: readonly Exposure[];
  readonly scopes: readonly ScopeRule[];
  readonly rules: readonly Rule[];
  readonly defaults: readonly DefaultRule[];
  /** Servers that are never open to callers about whom nothing was said. */
  readonly sandboxed: ReadonlySet<string>;
  /** All of the above is the platform's. This is what tenants' own operators have said, by tenant. */
  readonly tenants: ReadonlyMap<string, TenantPolicy>;
};

/** What a tenant says about its own people. It is decided apart, and the stricter of the two counts: it opens nothing. */
export type TenantPolicy = Pick<AccessPolicy, "grants" | "bindings" | "exposures" | "defaults">;

export const NO_POLICY: AccessPolicy = {
  grants: [],
  bindings: [],
  exposures: [],
  scopes: [],
  rules: [],
  defaults: [],
  sandboxed: new Set(),
  tenants: new Map(),
};
