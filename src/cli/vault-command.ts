import { Argument, type Command } from "commander";
import { configOption, jsonOption } from "./common-options.ts";

export function addVaultCommand(program: Command): void {
  program
    .command("vault")
    .addArgument(new Argument("<action>", "what to do").choices(["rotate"]))
    .description(
      "Adds a key with which tokens of servers are encrypted from now on; what former keys encrypted stays readable.",
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (_action, options) => (await import("./verbs/vault.ts")).rotateVault(options));
}
