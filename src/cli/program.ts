/** The command line: its verbs and their options. What a verb does is loaded when it is used, so that start is fast. */
import { Command, Option } from "commander";
import { LOG_LEVELS } from "../server/log-level.ts";
import { VERSION } from "../server/version.ts";
import { EXIT_CODES } from "./exit-codes.ts";

export function createProgram(): Command {
  const program = new Command("isthmus")
    .description("The narrow waist between agents and everything they can call.")
    .version(VERSION, "--version", "print the version")
    .addHelpText("after", `\nExit codes:\n${exitCodeLines()}`);

  program
    .command("up")
    .description("Starts the gateway and serves MCP over HTTP until it is stopped.")
    .addOption(configOption())
    .option("--listen <host:port>", "where to listen; wins over the file")
    .addOption(logLevelOption())
    .option("--json", "print the summary as one line of JSON")
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

  program
    .command("demo-server", { hidden: true })
    .description("The MCP server behind the first run.")
    .action(async () => (await import("../server/demo/demo-server.ts")).serveDemo(process.stdin, process.stdout));

  return program;
}

function configOption(): Option {
  return new Option("--config <file>", "the config file; without it ./isthmus.toml and MGP's places are looked at");
}

function logLevelOption(): Option {
  return new Option("--log-level <level>", "the least important lines to write").choices(LOG_LEVELS);
}

function exitCodeLines(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${code}  ${meaning}`)
    .join("\n");
}
