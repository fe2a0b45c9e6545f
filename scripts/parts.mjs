/** Installs the programs that tests run against (tests/parts), only when its lockfile is newer than the last install. */
import "./node24.mjs";
import { execFileSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";

const folder = "tests/parts";
const lock = `${folder}/package-lock.json`;
const stamp = `${folder}/node_modules/.installed`;

if (!existsSync(lock)) {
  process.stdout.write(`nothing to install: ${lock} is missing\n`);
} else if (!existsSync(stamp) || statSync(lock).mtimeMs > statSync(stamp).mtimeMs) {
  execFileSync("npm", ["ci", "--prefix", folder], { stdio: "inherit" });
  writeFileSync(stamp, "");
}
