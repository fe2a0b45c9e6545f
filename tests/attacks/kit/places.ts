/** The server of places-server.mjs, and what has reached it in any process. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../e2e/kit/program.ts";

export class Places {
  readonly #folder = mkdtempSync(join(tmpdir(), "isthmus-places-"));
  readonly #seen = join(this.#folder, "seen");

  constructor() {
    writeFileSync(this.#seen, "");
  }

  get table(): string {
    const args = JSON.stringify([join(ROOT, "tests/attacks/places-server.mjs"), this.#seen]);
    return `[[servers]]\nid = "places"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
  }

  /** The same, where an operator's yes is wanted before `touch`. `gate`: more about how. */
  gatedTable(gate = ""): string {
    return `[gate]
evidence = "operator"
${gate}
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "places.touch"
effect = "confirm"
${this.table}`;
  }

  /** Every message, one a line. */
  get seen(): string {
    return readFileSync(this.#seen, "utf8");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
