/** Servers as a report shows them: what looks like a secret is not in it, wherever a client had it. */
import type { NewServer, Reference } from "../config-file/server-text.ts";
import { isObject } from "../json.ts";
import { looksSecret } from "./secrets.ts";

const MASK = "[secret]";

export function maskedServer({ args, url, env, headers, ...rest }: NewServer): NewServer {
  return {
    ...rest,
    ...(args && { args: maskedArguments(args) }),
    ...(url !== undefined && { url: maskedUrl(url) }),
    ...(env && { env: maskedTable(env) }),
    ...(headers && { headers: maskedTable(headers) }),
  };
}

/** `--token x`, `--token=x`, and what looks like a secret by itself. */
export function maskedArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const [, flag, inline] = /^(--?[\w-]+)=(.+)$/s.exec(arg) ?? [];
    if (flag !== undefined && inline !== undefined) return looksSecret(flag, inline) ? `${flag}=${MASK}` : arg;
    const before = args[index - 1] ?? "";
    return !arg.startsWith("-") && looksSecret(before.startsWith("-") ? before : "", arg) ? MASK : maskedUrl(arg);
  });
}

/** A password before the host, and keys in the query. */
export function maskedUrl(url: string): string {
  return url
    .replace(/(\/\/[^/:@\s]*:)[^/@\s]+@/, `$1${MASK}@`)
    .replace(/([?&][\w-]*(?:key|token|secret)=)[^&#\s]+/gi, `$1${MASK}`);
}

function maskedTable(table: Readonly<Record<string, Reference>>): Record<string, Reference> {
  const pairs = Object.entries(table).map(([key, value]) => [
    key,
    typeof value === "string" ? maskedText(key, value) : value,
  ]);
  return Object.fromEntries(pairs);
}

function maskedText(key: string, text: string): string {
  if (looksSecret(key, text)) return MASK;
  return maskedUrl(
    text.replace(/(\$\{\w+:-)([^}]+)\}/g, (whole, start, fallback) =>
      looksSecret(key, fallback) ? `${start}${MASK}}` : whole,
    ),
  );
}

/** An entry of a client's file. */
export function maskedEntry(value: unknown, key = ""): unknown {
  if (typeof value === "string") return maskedText(key, value);
  if (Array.isArray(value)) {
    return value.every((one) => typeof one === "string")
      ? maskedArguments(value)
      : value.map((one) => maskedEntry(one));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskedEntry(member, name)]));
}
