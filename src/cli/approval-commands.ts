/** The verbs of whoever says yes or no to calls. */
import { Argument, type Command } from "commander";
import { configOption, jsonOption, urlOption } from "./common-options.ts";

export function addApprovalCommands(program: Command): void {
  program
    .command("operator")
    .addArgument(new Argument("<action>", "what to do").choices(["init", "token"]))
    .description(
      "What you approve calls with: init makes your key, and prints the lines that make a gateway trust it; token prints the token by which the gateway that you run knows you, for the pages on which calls are approved.",
    )
    .option("--key <file>", "where the key is kept; without it ~/.config/isthmus/operator.key")
    .option("--ssh <file>", "use this Ed25519 key of OpenSSH instead; it must have no passphrase")
    .addOption(jsonOption())
    .action(async (action, options) => {
      const { initOperator, printToken } = await import("./verbs/operator.ts");
      return action === "token" ? printToken(options) : initOperator(options);
    });

  program
    .command("approvals")
    .description("Lists the calls that wait for somebody to approve them.")
    .option("--all", "also those that were decided or have expired")
    .option("--user <name>", "only those of this user")
    .option("--principal <id>", "only those of this principal: of a caller that has no user")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await import("./verbs/approvals.ts")).approvals(options));

  addDecision(
    program,
    "approve",
    "Shows a call that waits, and approves it: with your key, or as the operator whose token you have.",
  );
  addDecision(
    program,
    "deny",
    "Shows a call that waits, and denies it: with your key, or as the operator whose token you have.",
  );
}

function addDecision(program: Command, decision: "approve" | "deny", description: string): void {
  program
    .command(decision)
    .argument(
      "[id]",
      "the id of the approval, or as much of it as tells it from others; with --print also the link to its page",
    )
    .description(description)
    .option("--latest", "the newest one that waits")
    .option("--yes", "do not ask on the terminal before you sign")
    .option("--print", "only print the proof, for the page of the call or for whoever brings it to the gateway")
    .option("--key <file>", "your key; without it ~/.config/isthmus/operator.key")
    .addOption(urlOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, options) => (await import("./verbs/approvals.ts")).decide(decision, id, options));
}
