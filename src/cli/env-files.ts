import { loadEnvFiles } from "../server/config/env-file.ts";
import { FileFault } from "../server/config/read-bounded.ts";
import { Ending } from "./ending.ts";
import { say } from "./output/console.ts";

/** Throws Ending where one of them cannot be read. */
export function readEnvFiles(files: readonly string[]): void {
  try {
    for (const [file, odd] of loadEnvFiles(files)) {
      const [lines, are] = odd.length === 1 ? ["line", "is"] : ["lines", "are"];
      // Not what is in them: it may be a secret.
      say(`-e ${file}: ${lines} ${odd.join(", ")} ${are} not NAME=value, and ${are} left out`);
    }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    throw new Ending("file", [`-e ${files.join(", ")}: ${error.message}`]);
  }
}
