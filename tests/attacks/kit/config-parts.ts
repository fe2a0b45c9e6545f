/** Parts of configs that several suites write. */
import { fileURLToPath } from "node:url";

const ASKING = fileURLToPath(new URL("./asking-server.mjs", import.meta.url));

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
