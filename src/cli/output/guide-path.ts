import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { shortPath } from "./short-path.ts";

/** A page of the docs as a person finds it here: they come with the program, in a clone and in the package. */
export function guidePath(page: string, program = process.argv[1] ?? ""): string {
  try {
    const path = join(dirname(realpathSync(program)), "../docs", page);
    if (existsSync(path)) return shortPath(path);
  } catch {
    // Then it is named as the repository has it.
  }
  return `docs/${page}`;
}
