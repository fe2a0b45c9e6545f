/** Secrets by reference: `{ fromEnv = "NAME" }`, `{ fromFile = "path" }`, and MGP's `${NAME}` inside a string. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "./find-config.ts";
import { Secret } from "./secret.ts";

export type Resolver = {
  readonly env: Environment;
  /** Relative paths start here: the folder of the config file. */
  readonly folder: string;
  /** Hears what cannot be resolved. Names the variable or the file, never a value. */
  readonly onProblem: (path: string, problem: string) => void;
};

/** A table of strings and references as secrets. Leaves out what has another form: the schema speaks about that. */
export function resolveReferences(table: unknown, path: string, resolver: Resolver): Record<string, Secret> {
  const resolved: Record<string, Secret> = {};
  if (typeof table !== "object" || table === null) return resolved;
  for (const [key, value] of Object.entries(table)) {
    const text = resolveOne(value, (problem) => resolver.onProblem(`${path}.${key}`, problem), resolver);
    if (text !== undefined) resolved[key] = new Secret(text);
  }
  return resolved;
}

function resolveOne(value: unknown, onProblem: (problem: string) => void, resolver: Resolver): string | undefined {
  const readEnv = (name: string): string => {
    const found = resolver.env[name];
    if (found === undefined) onProblem(`the environment variable ${name} is not set`);
    return found ?? "";
  };
  if (typeof value === "string") return value.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => readEnv(name));
  if (typeof value !== "object" || value === null) return undefined;
  const { fromEnv, fromFile } = value as { fromEnv?: unknown; fromFile?: unknown };
  if (typeof fromEnv === "string") return readEnv(fromEnv);
  if (typeof fromFile !== "string") return undefined;
  try {
    return readFileSync(resolve(resolver.folder, fromFile), "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    onProblem(`the file ${JSON.stringify(fromFile)} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
