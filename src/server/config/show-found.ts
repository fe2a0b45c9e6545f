/** A value of the config as a message may show it. */
import { TomlDate } from "smol-toml";
import type { KeyPath } from "./toml-lines.ts";

/** What stands under these keys may be a secret, also one that was written in the wrong place: only its kind is shown. */
const SENSITIVE: ReadonlySet<PropertyKey> = new Set([
  "env",
  "headers",
  "args",
  "sealKey",
  "clientSecret",
  "privateKey",
  "keys",
]);

const MAX_SHOWN = 80;

export function showFound(path: KeyPath, value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (value instanceof TomlDate) return "a date";
  if (typeof value === "object") return "a table";
  if (path.some((part) => SENSITIVE.has(part))) return KINDS[typeof value] ?? "a value";
  const text = typeof value === "string" ? JSON.stringify(withoutCredentials(value)) : String(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}

const KINDS: Readonly<Record<string, string>> = { string: "a string", number: "a number", boolean: "true or false" };

/** A URL may carry a password before the host, and a key in its query. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@]*@/, "//…@").replace(/\?.*$/s, "?…");
}
