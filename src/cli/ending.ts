import type { ExitName } from "./exit-codes.ts";

/** Ends a command early. The lines go to standard error, each as `isthmus: …`; they may hold words of others. */
export class Ending extends Error {
  override readonly name = "Ending";
  readonly exit: ExitName;
  readonly lines: readonly string[];

  constructor(exit: ExitName, lines: readonly string[]) {
    super(lines.join("\n"));
    this.exit = exit;
    this.lines = lines;
  }
}
