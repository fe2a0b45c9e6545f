/** Variables of the environment from a file of `NAME=value` lines. */
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { FileFault, readBounded } from "./read-bounded.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * What decides which config counts, which code Node, the system's loader and the package managers of children run, or whom they
 * trust: a file of settings and secrets has no say in it. Some take effect in a process that runs already, the others in whatever
 * it starts. Of what children do not get a name may well be that of a secret.
 */
const STEERING = [
  /^MGP_CONFIG_PATH$/i,
  /^NODE_(?:OPTIONS|PATH|TLS_REJECT_UNAUTHORIZED|EXTRA_CA_CERTS|REPL_EXTERNAL_MODULE|V8_COVERAGE)$/i,
  /^(?:OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_(?:FILE|DIR)|\w+_CA_BUNDLE|GIT_SSL_CAINFO|DENO_CERT)$/i,
  /^(?:LD|DYLD|UV|PIP)_\w+$/i,
  /^npm_config_/i,
  /^(?:HOME|PATH|PATHEXT|SHELL|COMSPEC|USERPROFILE|APPDATA|XDG_(?:CACHE|CONFIG|DATA)_HOME)$/i,
];

/**
 * Adds them to the environment of this process, before anything reads it. What is set there already stays; of two files
 * the later one counts. Throws FileFault with a sentence about the file, and has set nothing then. Returns the numbers of
 * lines that were left out, by file.
 */
export function loadEnvFiles(files: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const given: Record<string, string | undefined> = {};
  const leftOut = new Map<string, readonly number[]>();
  for (const file of files) {
    const text = readBounded(resolve(file), MAX_BYTES).toString("utf8");
    const odd = oddLines(text);
    if (odd.length > 0) leftOut.set(file, odd);
    for (const [name, value] of Object.entries(parseEnv(text))) if (NAME.test(name)) given[name] = value;
  }
  const steering = Object.keys(given).filter((name) => STEERING.some((pattern) => pattern.test(name)));
  if (steering.length > 0) {
    const them = steering.length === 1 ? "it" : "them";
    throw new FileFault(
      `sets ${steering.join(", ")}, which is not for the gateway; take ${them} out, and set ${them} where the gateway is started, or under env of one server`,
    );
  }
  for (const [name, value] of Object.entries(given)) process.env[name] ??= value;
  return leftOut;
}

const NAME = /^[A-Za-z_][\w.-]*$/;
const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(?<value>.*)$/;

/** Lines that set nothing, from 1. The value of a variable may go on over several lines, in quotation marks. */
function oddLines(text: string): number[] {
  const lines = text.split(/\r?\n/);
  const odd: number[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#|$)/.test(line)) continue;
    const value = ASSIGNMENT.exec(line)?.groups?.value;
    if (value === undefined) odd.push(at + 1);
    const [quote = ""] = /^["'`]/.exec(value ?? "") ?? [];
    if (quote === "" || value?.includes(quote, 1)) continue;
    const end = lines.findIndex((later, index) => index > at && later.includes(quote));
    if (end > 0) at = end;
  }
  return odd;
}
