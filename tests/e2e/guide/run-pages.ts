/** The pages whose commands are run as they stand there, from top to bottom; `tests/structure` finds any that is left out. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isCommand, readBlocks } from "../kit/markdown.ts";
import { ROOT } from "../kit/program.ts";

const GUIDE = "docs/guide";
/** Its commands change a machine; what tests run of them, `tests/structure/commands.test.ts` says. */
const INSTALL = `${GUIDE}/install.md`;

export function runPages(): string[] {
  const guide = readdirSync(join(ROOT, GUIDE)).filter((name) => name.endsWith(".md"));
  const examples = readdirSync(join(ROOT, "examples")).map((name) => `examples/${name}/README.md`);
  return ["README.md", ...guide.map((name) => `${GUIDE}/${name}`), ...examples].filter(
    (page) => page !== INSTALL && readBlocks(page).some(isCommand),
  );
}
