/** Secrets by reference: `{ fromEnv = "NAME" }`, `{ fromFile = "path" }`, and `${NAME}` or `${NAME:-default}` inside a string. */
import { resolve } from "node:path";
import type { Environment } from "./find-config.ts";
import { nearest } from "./nearest.ts";
import { FileFault, readBounded } from "./read-bounded.ts";
import { Secret } from "./secret.ts";
import type { KeyPath } from "./toml-lines.ts";

export type Resolver = {
  readonly env: Environment;
  /** Relative paths start here: the folder of the config file. */
  readonly folder: string;
  /** The config itself, which is no secret of its own. */
  readonly configFiles: readonly string[];
  /** Hears what cannot be resolved. Names the variable or the file, never a value. */
  readonly onProblem: (path: KeyPath, problem: string) => void;
  /** Hears of every file that is named, also of one that cannot be read, and of the key that names it. */
  readonly onFile: (file: string, path: KeyPath) => void;
  /** A variable that is not set is no problem. */
  readonly allowsUnset?: boolean | undefined;
};

const MAX_SECRET_BYTES = 64 * 1024;

/**
 * A table of strings and references as secrets. Leaves out what has another form: the schema speaks about that. Leaves out what
 * cannot be resolved, too: nothing is to be checked that is not known.
 */
export function resolveReferences(table: unknown, path: KeyPath, resolver: Resolver): Record<string, Secret> {
  const resolved: Record<string, Secret> = {};
  if (typeof table !== "object" || table === null) return resolved;
  for (const [key, value] of Object.entries(table)) {
    const place = [...path, key];
    const told = { ...resolver, onFile: (file: string) => resolver.onFile(file, place) };
    const secret = resolveOne(value, (problem) => resolver.onProblem(place, problem), told);
    if (secret !== undefined) resolved[key] = secret;
  }
  return resolved;
}

type OneResolver = Omit<Resolver, "onFile"> & { readonly onFile: (file: string) => void };

function resolveOne(value: unknown, onProblem: (problem: string) => void, resolver: OneResolver): Secret | undefined {
  const referred: string[] = [];
  let isKnown = true;
  const readEnv = (name: string): string => {
    const found = resolver.env[name];
    if (found === undefined) isKnown = false;
    if (found === undefined && !resolver.allowsUnset) onProblem(describeUnset(name, resolver.env));
    referred.push(found ?? "");
    return found ?? "";
  };
  if (typeof value === "string") {
    const filled = fillIn(value, resolver.env, readEnv);
    return isKnown ? new Secret(filled, referred) : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { fromEnv, fromFile } = value as { fromEnv?: unknown; fromFile?: unknown };
  if (typeof fromEnv === "string") {
    const found = readEnv(fromEnv);
    return isKnown ? new Secret(found) : undefined;
  }
  const text = typeof fromFile === "string" ? readSecretFile(fromFile, onProblem, resolver) : undefined;
  return text === undefined ? undefined : new Secret(text);
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** What stands in a text beside the variables that are filled in. */
export function withoutVariables(text: string): string {
  return text.replace(VARIABLE, "");
}

/** The names of those without a default: `fillDefaults` leaves them as they are written. */
export function unfilledVariables(text: string): string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name = "", fallback]) => (fallback === undefined ? [name] : []));
}

/** The text with every variable that has a default filled in. The others stay: whoever gets the text may know what they mean. */
export function fillDefaults(text: string, env: Environment): string {
  return text.replace(VARIABLE, (written: string, name: string, fallback: string | undefined) =>
    fallback === undefined ? written : (Object.hasOwn(env, name) && env[name]) || fallback,
  );
}

/** As a shell does: a default counts where the variable is not set, or empty. */
function fillIn(text: string, env: Environment, readEnv: (name: string) => string): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) =>
    fallback === undefined || env[name] ? readEnv(name) : fallback,
  );
}

function describeUnset(name: string, env: Environment): string {
  const meant = nearest(name, Object.keys(env));
  const hint =
    meant === undefined
      ? "set it before the gateway starts, or in a file that -e FILE names"
      : `did you mean ${JSON.stringify(meant)}?`;
  return `the environment variable ${JSON.stringify(name)} is not set, ${hint}`;
}

/** The text of the file without its last line break, which editors add. */
function readSecretFile(
  named: string,
  onProblem: (problem: string) => void,
  { folder, configFiles, onFile }: OneResolver,
): string | undefined {
  const file = resolve(folder, named);
  onFile(file);
  const complain = (what: string) => onProblem(`the file ${JSON.stringify(named)} ${what}`);
  if (configFiles.includes(file)) {
    complain("is the config itself; put the secret in a file of its own");
    return undefined;
  }
  try {
    const text = readBounded(file, MAX_SECRET_BYTES)
      .toString("utf8")
      .replace(/\r?\n$/, "");
    if (text !== "") return text;
    complain("is empty");
    return undefined;
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    complain(error.message);
    return undefined;
  }
}
