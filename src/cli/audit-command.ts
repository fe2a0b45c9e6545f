import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { configOption, jsonOption } from "./common-options.ts";

const RESULTS = ["SUCCESS", "FAILURE", "BLOCKED", "DENIED", "PENDING"];

export function addAuditCommand(program: Command): void {
  program
    .command("audit")
    .addArgument(new Argument("<action>", "what to do").choices(["tail", "query", "verify", "export"]))
    .argument("[file]", "verify: an exported trail instead of the gateway's; export: where to write it")
    .description(
      "Shows what has happened (tail, query), writes all of it to a file (export), and finds out whether anything of it was altered (verify).",
    )
    .option("--trace <id>", "only events of this trace")
    .option("--type <name>", "only events of this type, such as TOOL_BLOCKED")
    .option("--actor <id>", "only what this agent, user or operator did")
    .option("--server <id>", "only what was about this server")
    .option(
      "--tool <name>",
      "only what was about this tool, as tail shows it; with --server by the server's own name for it",
    )
    .option("--tenant <name>", "only events of this tenant")
    .addOption(new Option("--result <word>", "only events that ended so").choices(RESULTS))
    .option("--from <time>", "only what happened then or later, such as 2026-05-02T08:00:00Z")
    .option("--to <time>", "only what happened then or before")
    .option("--limit <count>", "how many to show", parseCount, 20)
    .option("--follow", "tail: go on until Ctrl-C")
    .option(
      "--key <file>",
      "verify: the public key that is trusted, audit-key.pub of the state folder; may be given several times",
      collect,
    )
    .option("--checkpoint <number:hash>", "verify: a checkpoint that a former report named and that must be there")
    .option(
      "--url <url>",
      "a running gateway; the token in ISTHMUS_TOKEN must have the role viewer, operator (verify) or admin (export)",
    )
    .addOption(configOption())
    .addOption(jsonOption("print JSON: one line, or one line for each event"))
    .action(async (action, file, options) => (await import("./verbs/audit.ts")).audit(action, file, options));
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("Expected a whole number from 1.");
  return Number(text);
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
