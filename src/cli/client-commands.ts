/** The verbs that speak to a gateway: the one that runs, else one of their own. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { LOG_LEVELS } from "../server/log-level.ts";
import { configOption, jsonOption, urlOption } from "./common-options.ts";

export function addClientCommands(program: Command): void {
  program
    .command("status")
    .description("Says how the gateway is that runs: where, who you are to it, its servers, and what waits.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await import("./verbs/status.ts")).status(options));

  program
    .command("list")
    .description("Lists the tools that can be called, and what is wrong with which server.")
    .option("--server <id>", "only what this server offers")
    .option("--resources", "resources and their templates instead of tools")
    .option("--prompts", "prompts instead of tools")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await import("./verbs/list.ts")).list(options));

  program
    .command("call")
    .argument("<name>", "the name of a tool, as list shows it")
    .argument("[arguments...]", "key=value for each argument, or one JSON object")
    .description(
      "Calls a tool. Progress goes to standard error, the result to standard output; Ctrl-C cancels the call.",
    )
    .option(
      "--questions",
      "let the tool ask on this terminal; every server then opens a session for this call alone. Without it, only tools that are hidden otherwise may ask",
    )
    .option("--no-questions", "let no tool ask")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption("print the whole result as one line of JSON"))
    .action(async (name, words, options) => (await import("./verbs/call.ts")).call(name, words, options));

  program
    .command("show")
    .argument("<name>", "the name of a tool, prompt or resource, as list shows it")
    .description("Shows what a tool, prompt or resource is for, and what it takes: its arguments and its schema.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (name, options) => (await import("./verbs/show.ts")).show(name, options));

  program
    .command("read")
    .argument("<uri>", "the URI of a resource, as list --resources shows it")
    .description("Prints what a resource holds.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption("print the whole result as one line of JSON"))
    .action(async (uri, options) => (await import("./verbs/read.ts")).read(uri, options));

  program
    .command("prompt")
    .argument("<name>", "the name of a prompt, as list --prompts shows it")
    .argument("[arguments...]", "key=value for each argument, or one JSON object")
    .description("Fills in a prompt, and prints its messages.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption("print the whole result as one line of JSON"))
    .action(async (name, words, options) => (await import("./verbs/prompt.ts")).prompt(name, words, options));

  program
    .command("search")
    .argument("<words...>", "words of the name, the title or the description")
    .description("Finds tools, prompts and resources by words; the best match comes first.")
    .option("--limit <count>", "how many to show", parseCount, 10)
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (words, options) => (await import("./verbs/search.ts")).search(words, options));

  program
    .command("trace")
    .argument("[call]", "the id of a call; without it, the last 20 are listed")
    .description("Shows how a recent call went through a running gateway, every step with its time.")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (callId, options) => (await import("./verbs/trace.ts")).trace(callId, options));

  program
    .command("logs")
    .argument("[text]", "only lines that have it: the id of a call, a server, a word")
    .description("Shows the last lines of the log of a running gateway.")
    .option("--follow", "also show those that come, until Ctrl-C")
    .addOption(new Option("--level <level>", "the least important lines to show").choices(LOG_LEVELS))
    .option("--limit <count>", "how many to show", parseCount, 100)
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption("print each line as one line of JSON"))
    .action(async (text, options) => (await import("./verbs/logs.ts")).logs(text, options));

  program
    .command("explain")
    .argument("<principal>", "who would call: a user, or `local`")
    .argument("<tool>", "the name of a tool, prompt or resource, as list shows it")
    .description("Says whether somebody may call something, and what every step of the decision says.")
    .option("--tenant <tenant>", "the caller's tenant; without it, the default one")
    .option("--client <client>", "which client acts for the user: the hash of its token, or its id")
    .option("--group <group...>", "a group of the user")
    .option("--scope <scope...>", "a scope of the token")
    .option("--server <id>", "the server, where the name is the server's own")
    .option("--args <json>", "the arguments of the call, for rules that look at them")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (principal, tool, options) => (await import("./verbs/explain.ts")).explain(principal, tool, options));

  program
    .command("complete", { hidden: true })
    .argument("<what>", "tool or server")
    .description("Prints words for a shell that completes.")
    .action(async (what) => (await import("./verbs/complete.ts")).complete(what));
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("Expected a whole number from 1.");
  return Number(text);
}
