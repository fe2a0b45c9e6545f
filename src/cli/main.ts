import { CommanderError } from "commander";
import { Ending } from "./ending.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { say, sayText, whenPrinted } from "./output/console.ts";
import { plainLine } from "./output/plain.ts";
import { createProgram } from "./program.ts";

// Whoever reads our logs or our summary may go away; that is no reason to stop serving.
process.stderr.on("error", () => {});
process.stdout.on("error", () => {});

const program = createProgram(process.argv[2]);
program.exitOverride();
for (const command of program.commands) command.exitOverride();

program.parseAsync().catch((thrown: unknown) => {
  // Commander has said what was wrong; asking for help is not wrong.
  if (thrown instanceof CommanderError) process.exit(thrown.exitCode === 0 ? 0 : EXIT_CODES.usage.code);
  if (thrown instanceof Ending) {
    for (const line of thrown.lines) say(plainLine(line));
    whenPrinted(() => process.exit(EXIT_CODES[thrown.exit].code));
    return;
  }
  sayText(`isthmus: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
  process.exit(EXIT_CODES.failure.code);
});
