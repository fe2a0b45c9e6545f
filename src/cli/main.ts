import { CommanderError } from "commander";
import { Ending } from "./ending.ts";
import { EXIT_CODES } from "./exit-codes.ts";
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
    process.stderr.write(thrown.lines.map((line) => `isthmus: ${plainLine(line)}\n`).join(""));
    // A result may still be on its way through a pipe.
    process.stdout.write("", () => process.exit(EXIT_CODES[thrown.exit].code));
    return;
  }
  process.stderr.write(`isthmus: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
  process.exit(EXIT_CODES.failure.code);
});
