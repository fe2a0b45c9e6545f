/** The config of gateways that ask everybody who they are, judge, count and record every call, and keep some waiting for a yes. */
import type { KeyObject } from "node:crypto";

/** The one bucket that is too small for its callers. */
export const METERED = { capacity: 20, perSecond: 5 } as const;

/** Of what cannot be taken back: who may ask for it at all. */
const STEWARDS = ["gil", "gus"] as const;

/** What of it refuses, refuses intruders only. */
export function governanceOf(operatorKey: KeyObject, modernUrl: string): string {
  const anchor = operatorKey.export({ format: "pem", type: "spki" }).toString();
  return `[audit]
[auth]
tokens = true
[gate]
hold = "1s"
expiry = "30s"
[[gate.anchors]]
key = ${JSON.stringify(anchor)}
[[servers]]
id = "metered"
url = ${JSON.stringify(modernUrl)}
breaker = false
[access]
defaultPolicy = "opt-in"
${["legacy", "modern", "child", "rated", "budgeted", "metered"].map((server) => grant("*", server)).join("")}
${["legacy", "modern"].map((server) => grant("*", server, "wipe", "deny")).join("")}
${["legacy", "modern"].flatMap((server) => STEWARDS.map((steward) => grant(steward, server, "wipe"))).join("")}
${grant("ben", "modern", "add", "deny")}
[[access.bindings]]
target = { type = "group", pattern = "staff" }
primitive = "modern.slow"
[[access.exposure]]
server = "rated"
enabled = false
tenant = "globex"
[[access.rules]]
match = "*"
when = 'has(args.mark) && args.mark == "forbidden"'
effect = "deny"
[[access.rules]]
match = "modern.add"
when = 'has(args.ms) && args.ms > 1000.0 && principal.tenant == "acme"'
effect = "deny"
[[limits]]
user = "*"
per = ["user"]
capacity = 100_000_000
refill = "1000000/s"
concurrency = 100_000
[[limits]]
server = "metered"
capacity = ${METERED.capacity}
refill = "${METERED.perSecond}/s"
`;
}

function grant(agent: string, server: string, tool?: string, permission = "allow"): string {
  const named = tool === undefined ? "" : `tool = "${tool}"\n`;
  return `[[access.grants]]\nagent = "${agent}"\nserver = "${server}"\n${named}permission = "${permission}"\n`;
}
