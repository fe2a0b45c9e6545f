/** The command line: its verbs and their options. What a verb does is loaded when it is used, so that start is fast. */
import { Command, Option } from "commander";
import { LOG_LEVELS } from "../server/log-level.ts";
import { VERSION } from "../server/version.ts";
import { addApprovalCommands } from "./approval-commands.ts";
import { addAuditCommand } from "./audit-command.ts";
import { addClientCommands } from "./client-commands.ts";
import { configOption, jsonOption } from "./common-options.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { addPinCommand } from "./pin-command.ts";
import { addSetupCommands } from "./setup-commands.ts";
import { addTokenCommand } from "./token-command.ts";
import { addVaultCommand } from "./vault-command.ts";

/** `verb`: what was typed. The verbs that serve are started often and by programs: they need to know of no others. */
export function createProgram(verb?: string): Command {
  const program = new Command("isthmus")
    .description("The narrow waist between agents and everything they can call.")
    .version(VERSION, "--version", "print the version")
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "isthmus: ")) })
    .showHelpAfterError('"isthmus help" shows the verbs, "isthmus help <verb>" their options.')
    .addHelpText("after", `\nExit codes:\n${exitCodeLines()}`);

  program
    .command("up")
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

  if (verb !== "up" && verb !== "stdio") {
    addSetupCommands(program);
    addPinCommand(program);
    addApprovalCommands(program);
    addTokenCommand(program);
    addVaultCommand(program);
    addAuditCommand(program);
    addClientCommands(program);
  }

  program
    .command("demo-server", { hidden: true })
    .description("The MCP server behind the first run.")
    .action(async () => (await import("../server/demo/demo-server.ts")).serveDemo(process.stdin, process.stdout));

  return program;
}

function logLevelOption(): Option {
  return new Option("--log-level <level>", "the least important lines to write").choices(LOG_LEVELS);
}

function exitCodeLines(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
    .join("\n");
}
