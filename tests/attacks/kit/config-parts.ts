/** Parts of configs that several suites write. */
import { fileURLToPath } from "node:url";

const ASKING = fileURLToPath(new URL("./asking-server.mjs", import.meta.url));

/** Tokens of people, two of them of one. */
export const PEOPLE = {
  ann: ["--user", "ann"],
  bob: ["--user", "bob"],
  cat: ["--user", "cat"],
  dan: ["--user", "dan"],
  dans: ["--user", "dan"],
  eve: ["--user", "eve"],
  gil: ["--user", "gil"],
} as const;

/** A gateway that knows its callers, and lets them use all that one server offers, a program of this folder. */
export function openTo(id: string, program: string, more = ""): string {
  return `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${kitServer(id, program, more)}`;
}

/** A server that is a program of this folder. */
export function kitServer(id: string, program: string, more = ""): string {
  const args = JSON.stringify([fileURLToPath(new URL(`./${program}`, import.meta.url))]);
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n${more}\n`;
}

/** A server whose tool asks its client; its one resource is memo://ID. */
export function askingServer(id: string, more = ""): string {
  const args = JSON.stringify([ASKING, `memo://${id}`]);
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n${more}\n`;
}

/** Of each server by its id, one rule about everything that it offers; what `allowed` offers is denied to all others. */
export function rulesFor(rules: Readonly<Record<string, { readonly when: string; readonly effect: string }>>): string {
  const each = Object.entries(rules).map(
    ([id, { when, effect }]) => `[[access.rules]]\nmatch = "${id}.*"\nwhen = '${when}'\neffect = "${effect}"\n`,
  );
  return `[access]\ndefaultPolicy = "opt-out"\n[access.servers]\nallowed = "opt-in"\n${each.join("")}`;
}
