/** Files that others on this machine can read or write. */
import type { Config } from "../../server/config/index.ts";
import type { FileFinding } from "../../server/file-owners.ts";
import { operatorTokenFault } from "../operator/operator-token.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Of the config, what it names and what is kept, and of the operator's token: without one, a gateway knows no operator. */
export function checkFiles(found: readonly FileFinding[], token = operatorTokenFault()): Finding[] {
  const files = found.map(({ file, found: what, isRefused, fix }) =>
    (isRefused ? problem : warning)("files", `${file} ${what}`, `run: ${fix}`),
  );
  const all = token ? [...files, warning("files", token.found, token.advice)] : files;
  return all.length > 0 ? all : [ok("files", "nobody else can get at keys, databases and folders")];
}

/** Whoever cannot look into the folder knows nothing of what is in it: only what the gateway's own user sees counts. */
export function foreignState({ gateway: { state } }: Pick<Config, "gateway">, keeper: string): Finding {
  const found = `${state} belongs to ${keeper}: what is in it cannot be looked at`;
  return warning("files", found, `run doctor as ${keeper}`);
}
