import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownHome } from "../../kit/own-home.ts";

/** What whoever runs a gateway shows it. `home`: of the user it runs as. */
export function operatorToken(home = ownHome()): string {
  return readFileSync(join(home, ".config", "isthmus", "operator.token"), "utf8").trim();
}
