import { Argument, type Command, Option } from "commander";
import { ROLES } from "../contract/index.ts";
import { configOption, jsonOption } from "./common-options.ts";

export function addTokenCommand(program: Command): void {
  program
    .command("token")
    .addArgument(new Argument("<action>", "what to do").choices(["create", "list", "rotate", "revoke"]))
    .argument("[id]", "rotate, revoke: the token, as `list` shows it")
    .description(
      "Makes, lists, replaces and revokes the tokens with which callers show who they are. Without --url at the gateway that runs with the config, and where none does on its database.",
    )
    .option("--user <name>", "create: who calls with it")
    .option("--tenant <name>", "create: whose user that is")
    .option("--group <name>", "create: a group of the user; may be given several times", collect)
    .option("--scope <name>", "create: a scope of the token; may be given several times", collect)
    .addOption(new Option("--role <role>", "create: what its bearer may do to the gateway itself").choices(ROLES))
    .option(
      "--expires <duration>",
      "create, rotate: how long it is good, such as 30d; without it until it is revoked, or as long as the one before",
    )
    .option("--client <name>", "create: the program that it is for")
    .option("--url <url>", "a running gateway that is to do it; the token in ISTHMUS_TOKEN must have the role admin")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (action, id, options) => (await import("./verbs/token.ts")).token(action, id, options));
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
