/** The command line: its verbs and their options. What a verb does is loaded when it is used, so that start is fast. */

import { Command, Help, Option } from "commander";
import { LOG_LEVELS } from "../server/log-level.ts";
import { VERSION } from "../server/version.ts";
import { addAccessCommands } from "./access-commands.ts";
import { addApprovalCommands } from "./approval-commands.ts";
import { addAuditCommand } from "./audit-command.ts";
import { addClientCommands } from "./client-commands.ts";
import { configOption, envFileOption, jsonOption } from "./common-options.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { outputWidth, print, sayText } from "./output/console.ts";
import { guidePath } from "./output/guide-path.ts";
import { plainLine } from "./output/plain.ts";
import { wrap } from "./output/wrap.ts";
import { addPinCommand } from "./pin-command.ts";
import { PROGRAM } from "./program-name.ts";
import { addSetupCommands } from "./setup-commands.ts";
import { addTokenCommand } from "./token-command.ts";
import { addVaultCommand } from "./vault-command.ts";

/** Verbs that serve, and other words for them. */
const SERVING: readonly string[] = ["up", "start", "serve", "stdio"];

/** `verb`: what was typed. The verbs that serve are started often and by programs: they need to know of no others. */
export function createProgram(verb?: string): Command {
  const program = new Command("isthmus")
    .description("The narrow waist between agents and everything they can call.")
    .version(VERSION, "-V, --version", "print the version")
    .configureOutput({ writeErr: sayText, outputError: (text) => sayText(said(text)) })
    // Every verb has options; without the word there is room for what the verb does, down to narrow terminals.
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (command) => withAliases(command, new Help().subcommandTerm(command).replace(" [options]", "")),
      commandUsage: (command) => withAliases(command, new Help().commandUsage(command)),
    })
    .showHelpAfterError(`"${PROGRAM} help" shows the verbs, "${PROGRAM} help <verb>" their options.`)
    .addHelpText("after", () => `\nExit codes:\n${exitCodeLines()}\n\nThe guide: ${guidePath("guide/README.md")}`);

  program
    .command("up")
    .aliases(["start", "serve"])
    .description("Starts the gateway and serves MCP over HTTP until it is stopped.")
    .addOption(configOption())
    .option("--listen <host:port>", "where to listen; wins over the variable ISTHMUS_LISTEN, which wins over the file")
    .option("--database <url>", "postgres://…, sqlite:path or memory:; wins over [database] of the file")
    .option("--shared <url>", "redis://…, for several processes as one gateway; wins over [shared] of the file")
    .addOption(logLevelOption())
    .addOption(jsonOption("print the summary as one line of JSON"))
    .action(async (options) => (await import("./up.ts")).up(options));

  program
    .command("stdio")
    .description(
      "Serves MCP on standard input and output, for clients that start their servers; logs go to standard error.",
    )
    .addOption(configOption())
    .option("--catalog <id>", "serve one catalog instead of everything")
    .addOption(logLevelOption())
    .action(async (options) => (await import("./stdio.ts")).stdio(options));

  if (!SERVING.includes(verb ?? "")) {
    addSetupCommands(program);
    addPinCommand(program);
    addApprovalCommands(program);
    addTokenCommand(program);
    addAccessCommands(program);
    addVaultCommand(program);
    addAuditCommand(program);
    addClientCommands(program);
  }

  for (const command of program.commands) {
    sayChoices(command);
    sayPairs(command);
  }
  // Whoever reads a config reads variables with it.
  for (const command of program.commands) {
    if (command.options.some(({ long }) => long === "--config")) command.addOption(envFileOption());
  }
  program.hook("preAction", async (_program, command) => {
    const { envFile } = command.opts<{ envFile?: readonly string[] }>();
    if (envFile) (await import("./env-files.ts")).readEnvFiles(envFile);
  });

  program
    .command("version", { hidden: true })
    .description("Another word for --version.")
    .action(() => print(VERSION));

  program
    .command("demo-server", { hidden: true })
    .description("The MCP server behind the first run.")
    .action(async () => (await import("../server/demo/demo-server.ts")).serveDemo(process.stdin, process.stdout));

  return program;
}

/** Of a verb that does several things: without a word for one of them, which there are. */
function sayChoices(command: Command): void {
  const [{ required = false, argChoices = undefined } = {}] = command.registeredArguments;
  if (!required || !argChoices) return;
  const name = command.name();
  const missing = `isthmus: ${name}: say which: ${argChoices.join(", ")}\n`;
  command
    .configureOutput({ outputError: (text) => sayText(/missing required argument/.test(text) ? missing : said(text)) })
    .showHelpAfterError(`"${PROGRAM} help ${name}" says what they do.`);
}

/** Of a verb that takes arguments of tools or prompts: they are no options. */
function sayPairs(command: Command): void {
  if (!command.registeredArguments.some((argument) => argument.name() === "arguments")) return;
  command.configureOutput({
    outputError(text) {
      const [, word, name, given] = /unknown option '(--([^'=]+)(?:=([^']*))?)'/.exec(text) ?? [];
      if (word === undefined) return sayText(said(text));
      const next = process.argv[process.argv.indexOf(word) + 1];
      const value = given ?? (next === undefined || next.startsWith("-") ? "..." : next);
      sayText(`${said(text).trimEnd()}\nisthmus: arguments are key=value: ${plainLine(`${name}=${value}`)}\n`);
    },
  });
}

function said(text: string): string {
  return text.replace(/^error: /, "isthmus: ");
}

/** Help has the first of the other words for a verb only. */
function withAliases(command: Command, help: string): string {
  const [first, ...others] = command.aliases();
  return first === undefined ? help : help.replace(`|${first}`, `|${[first, ...others].join("|")}`);
}

function logLevelOption(): Option {
  return new Option("--log-level <level>", "the least important lines to write").choices(LOG_LEVELS);
}

/** Of a code before its meaning. */
const MARGIN = 7;

function exitCodeLines(): string {
  return Object.values(EXIT_CODES)
    .flatMap(({ code, meaning }) =>
      wrap(meaning, outputWidth() - MARGIN).map(
        (line, index) => `  ${(index === 0 ? String(code) : "").padStart(3)}  ${line}`,
      ),
    )
    .join("\n");
}
