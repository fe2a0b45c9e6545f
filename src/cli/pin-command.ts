import { Argument, type Command } from "commander";
import { configOption, jsonOption } from "./common-options.ts";

export function addPinCommand(program: Command): void {
  program
    .command("pin")
    .addArgument(new Argument("<action>", "what to do").choices(["list", "accept"]))
    .argument("[name]", "accept: the tool or prompt, as `list` shows it")
    .description(
      "Shows which tools and prompts are not what they were when first seen, and accepts them as they are now.",
    )
    .option("--all", "list: also what has not changed; accept: everything that has changed")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (action, name, options) => (await import("./verbs/pin.ts")).pin(action, name, options));
}
