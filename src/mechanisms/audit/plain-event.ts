/** What everybody who reads the trail may see of an event: of addresses only where they lead. */
import type { AuditEvent, Target } from "../../contract/index.ts";
import { plainAddress } from "./redact.ts";

/** Details that are names of what is called, as rules and clients have them. */
const NAMES = ["tool", "calledAs"] as const;

/** Of what an operator allows by a pattern, and of nothing else, the record is the pattern as it stands in the policy. */
const ABOUT_PATTERNS: ReadonlySet<string> = new Set(["ACCESS_GRANTED", "ACCESS_REVOKED"]);

/** Also of one that is plain already. Whoever writes an event need not think of it: the trail, and those who listen, ask this. */
export function plainEvent(event: AuditEvent): AuditEvent {
  const { type, target, details } = event;
  if (ABOUT_PATTERNS.has(type)) return event;
  const name = plainName(target.name, details.kind);
  const named = NAMES.flatMap((key) => {
    const text = details[key];
    const plain = typeof text === "string" ? plainName(text, details.kind) : text;
    return plain === text ? [] : [[key, plain]];
  });
  if (name === target.name && named.length === 0) return event;
  return { ...event, target: { ...target, name }, details: { ...details, ...Object.fromEntries(named) } };
}

/** As the trail, the log and lists of calls have it. */
export function plainTarget({ kind, name }: Pick<Target, "kind" | "name">): string {
  return plainName(name, kind);
}

/** Also behind the name of a server and a dot, as rules have it. */
const ADDRESS = /^[\w.+-]*:/;

/** Where nobody says what kind of thing it is, it is what it looks like. */
function plainName(name: string, kind: unknown): string {
  if (kind === "tool" || kind === "prompt") return name;
  return kind === "resource" || kind === "template" || ADDRESS.test(name) ? plainAddress(name) : name;
}
