import { Argument, type Command } from "commander";
import { configOption, jsonOption } from "./common-options.ts";

export function addPinCommand(program: Command): void {
  program
    .command("pin")
    .addArgument(new Argument("<action>", "what to do").choices(["list", "diff", "accept"]))
    .argument("[name]", "accept: the tool or prompt, as `list` shows it")
    .description(
      "Shows which tools and prompts are not what they were when first seen, and accepts them as they are now.",
    )
    .option("--all", "list: also what has not changed; accept: everything that has changed")
    .option("--digest <digest>", "accept: only what `diff` showed with this digest")
    .option("--yes", "accept: do not ask on the terminal; what is accepted is shown all the same")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (action, name, options) => (await import("./verbs/pin.ts")).pin(action, name, options));
}
