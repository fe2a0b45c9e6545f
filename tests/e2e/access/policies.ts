/** The policies under which every way is tried, as they stand in a config. */
import { stringify } from "smol-toml";
import { segmentOf } from "../../../src/contract/index.ts";
import type { AccessPolicy } from "../../../src/mechanisms/access/index.ts";
import { accessSchema } from "../../../src/server/config/access-config.ts";
import { declaredPolicy } from "../../../src/server/governance/access.ts";

const POLICIES: Readonly<Record<string, object>> = {
  "grants of tools and servers, and nothing else": {
    defaultPolicy: "opt-in",
    grants: [
      { agent: "root", server: "*" },
      { agent: "ann", server: "files" },
      { agent: "ann", server: "files", tool: "drop", permission: "deny" },
      { agent: "bob", server: "docs", tool: "show" },
      { agent: "carol", server: "files", expires: "2001-01-01T00:00:00Z" },
    ],
  },
  "everything but what bindings deny": {
    defaultPolicy: "opt-out",
    bindings: [
      { target: { type: "group", pattern: "dev" }, primitive: "files.*", allowed: false },
      { target: { type: "user", pattern: "bob" }, primitive: "files.review" },
      { target: { type: "user", pattern: "a*" }, primitive: "docs.note://*", allowed: false },
      { target: { type: "group", pattern: "*" }, primitive: "docs.show", protocol: "a2a", allowed: false },
    ],
  },
  "everything but some places": {
    defaultPolicy: "opt-out",
    bindings: [
      { target: { type: "group", pattern: "dev" }, primitive: "files.note://by-day/m*", allowed: false },
      { target: { type: "user", pattern: "carol" }, primitive: "*.note://by-day/tue", allowed: false },
    ],
    rules: [{ match: "docs.note://by-day/t*", effect: "deny" }],
  },
  "switches, a template that is denied, and scopes": {
    defaultPolicy: "opt-out",
    exposure: [
      { server: "docs", primitive: "drop", enabled: false },
      { server: "team", primitive: "files.show", enabled: false },
      { server: "docs", protocol: "a2a", enabled: false },
    ],
    bindings: [{ target: { type: "user", pattern: "ann" }, primitive: "files.note://by-day/{day}", allowed: false }],
    scopes: [{ match: "files.drop", scopes: ["files:write"] }],
  },
  "one server that is off for everybody": {
    defaultPolicy: "opt-out",
    exposure: [{ server: "files", enabled: false }],
    grants: [{ agent: "root", server: "*" }],
  },
  "nothing concealed: switches in a catalog, a template that is denied or lacks a scope": {
    conceal: false,
    defaultPolicy: "opt-out",
    exposure: [
      { server: "docs", primitive: "drop", enabled: false },
      { server: "team", primitive: "files.show", enabled: false },
    ],
    bindings: [{ target: { type: "user", pattern: "ann" }, primitive: "files.note://by-day/{day}", allowed: false }],
    scopes: [{ match: "*.note://by-day/{day}", scopes: ["files:write"] }],
  },
  "nothing concealed: a catalog that is off for everybody": {
    conceal: false,
    defaultPolicy: "opt-out",
    exposure: [{ server: "team", enabled: false }],
  },
};

export type NamedPolicy = {
  readonly name: string;
  readonly toml: string;
  readonly policy: AccessPolicy;
  readonly conceals: boolean;
};

export function allPolicies(servers: readonly string[]): readonly NamedPolicy[] {
  return Object.entries(POLICIES).map(([name, access]) => ({
    name,
    toml: stringify({ access }),
    conceals: accessSchema.parse(access).conceal,
    policy: declaredPolicy({
      access: accessSchema.parse(access),
      servers: servers.map((id) => ({ id, segment: segmentOf(id) })) as never,
    }),
  }));
}
