/** The SDKs of tests/parts, installed when they have changed. */
import { execFileSync } from "node:child_process";
import { ROOT } from "../e2e/kit/program.ts";

export function prepareParts(): void {
  execFileSync(process.execPath, ["scripts/parts.mjs"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
}
