/** The verbs that write or look at the config. */
import { Argument, type Command, Option } from "commander";
import { configOption, jsonOption } from "./common-options.ts";
import { CLIENTS } from "./import/client-files.ts";
import { sayText } from "./output/console.ts";
import { PROGRAM } from "./program-name.ts";
import { SHELLS } from "./verbs/completion.ts";

export function addSetupCommands(program: Command): void {
  const adding = program.command("add");
  adding
    .argument("<id>", "what the server is to be called")
    .argument("[command...]", "after --, the command that starts it; or the address of one that runs")
    .description("Adds a server to the config; the rest of the file stays as it is.")
    .usage("[options] <id> (--url <url> | -- <command> [args...])")
    .configureOutput({ outputError: (text) => sayText(withDashes(text, adding)) })
    .option("--url <url>", "the endpoint of a server that is reached over HTTP")
    .option("--sse", "the server speaks HTTP+SSE of 2024-11-05")
    .option("--env <name[=value]>", "a variable of its environment; without a value it is taken from ours", collect)
    .option("--header <name=value>", "a header that its requests carry", collect)
    .option("--prefix <prefix>", "what stands before the dot in the names of its tools")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, words, options) => (await import("./verbs/add.ts")).add(id, words, options));

  program
    .command("remove")
    .argument("<id>", "the server")
    .description("Takes a server out of the config; the rest of the file stays as it is.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, options) => (await import("./verbs/change-server.ts")).remove(id, options));

  for (const [verb, isDisabled, about] of [
    ["disable", true, "Leaves a server out (`disabled = true`); its table stays."],
    ["enable", false, "Takes a server in again that was left out."],
  ] as const) {
    program
      .command(verb)
      .argument("<id>", "the server")
      .description(about)
      .addOption(configOption())
      .addOption(jsonOption())
      .action(async (id, options) => (await import("./verbs/change-server.ts")).setDisabled(id, isDisabled, options));
  }

  program
    .command("import")
    .argument(
      "[source]",
      `a file, or one of ${Object.keys(CLIENTS).join(", ")}; without it, every known file that is there`,
    )
    .description(
      "Takes over the servers of MCP clients (mcpServers, VS Code, server.json). Secrets move to files that only you can read.",
    )
    .option("--dry-run", "show what would be written, and write nothing")
    .addOption(
      new Option("--connect [how]", "point the client at Isthmus; its file is kept beside it")
        .choices(["stdio", "url"])
        .preset("stdio"),
    )
    .option("--undo", "put the client's file back as it was, byte for byte")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (source, options) => (await import("./verbs/import.ts")).importServers(source, options));

  program
    .command("doctor")
    .description("Looks at Node, the config, the port, each server and the clients, and says what to do.")
    .option("--timeout <duration>", "how long each server may take to start", "10s")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await import("./verbs/doctor.ts")).doctor(options));

  program
    .command("completion")
    .addArgument(new Argument("<shell>", "the shell to print it for").choices(SHELLS))
    .description("Prints a script that completes verbs, options and names: source <(isthmus completion bash)")
    .addOption(jsonOption())
    .action(async (shell, options) => (await import("./verbs/completion.ts")).completion(shell, program, options));
}

/** Options of the command that starts a server are taken for ours unless `--` stands before it. */
function withDashes(text: string, { args, parent }: Command): string {
  const said = text.replace(/^error: /, "isthmus: ");
  const [id = "", command = ""] = args;
  if (!text.includes("unknown option") || command === "" || command.startsWith("-")) return said;
  const typed: readonly string[] = (parent as { rawArgs?: string[] } | null)?.rawArgs?.slice(2) ?? [];
  const words = typed.slice(typed.indexOf(command, typed.indexOf(id) + 1));
  return `${said}isthmus: write: ${PROGRAM} add ${id} -- ${words.map(shellWord).join(" ")}\n`;
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function collect(word: string, before: readonly string[] = []): readonly string[] {
  return [...before, word];
}
