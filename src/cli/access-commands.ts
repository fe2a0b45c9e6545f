/** The verbs of whoever looks after callers: what they may use, and what they have open. */
import { Argument, type Command } from "commander";
import { configOption, jsonOption, urlOption } from "./common-options.ts";

export function addAccessCommands(program: Command): void {
  program
    .command("grant")
    .argument("<user>", "who is to use it, or `*` for everybody")
    .argument("<what>", "a server, or a tool as list shows it")
    .description("Lets somebody use a tool, or all of a server. It counts at once, and until it is revoked.")
    .option("--deny", "forbid it instead")
    .option("--expires <duration>", "how long it counts, such as 30d")
    .option("--reason <text>", "why, for the audit trail")
    .option("--server <id>", "the server, where the name is the tool's own")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (user, what, options) => (await import("./verbs/grant.ts")).grant(user, what, options));

  program
    .command("revoke")
    .argument("<user>", "who was granted it")
    .argument("<what>", "a server, or a tool as list shows it")
    .description("Takes back what was granted. (`token revoke` takes back a token.)")
    .option("--server <id>", "the server, where the name is the tool's own")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (user, what, options) => (await import("./verbs/grant.ts")).revoke(user, what, options));

  program
    .command("sessions")
    .addArgument(new Argument("[action]", "what to do").choices(["list", "end"]).default("list"))
    .argument("[id]", "end: the session, as `list` shows it")
    .description("Lists the sessions that clients have at a running gateway, and ends one with the calls in it.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (action, id, options) => (await import("./verbs/sessions.ts")).sessions(action, id, options));
}
