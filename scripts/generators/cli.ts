/** Turns the commander program into the reference of the command line: one section per verb. */
import type { Command } from "commander";
import { EXIT_CODES } from "../../src/cli/exit-codes.ts";
import { createProgram } from "../../src/cli/program.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

export const cliGenerator: Generator = { name: "cli", pages: async () => [cliPage(createProgram())] };

export function cliPage(program: Command): Page {
  return page(
    `${REFERENCE}/cli.md`,
    "# Command line",
    program.description(),
    ...describeVerbs(program, program.name()),
    "## Exit codes",
    table(
      ["code", "meaning"],
      Object.values(EXIT_CODES).map(({ code, meaning }) => [String(code), meaning]),
    ),
  );
}

function describeVerbs(command: Command, path: string): string[] {
  const help = command.createHelp();
  return help
    .visibleCommands(command)
    .filter((verb) => verb.name() !== "help")
    .flatMap((verb) => {
      const name = `${path} ${verb.name()}`;
      const rows = [
        ...help.visibleArguments(verb).map((argument) => [argument.name(), help.argumentDescription(argument)]),
        ...help.visibleOptions(verb).map((option) => [option.flags, help.optionDescription(option)]),
      ].map(([term = "", meaning = ""]) => [`\`${term}\``, meaning]);
      const others = verb.aliases().map((alias) => `\`${alias}\``);
      const blocks = [
        `## \`${name}\``,
        verb.description(),
        others.length > 0 ? `Also called ${others.join(" and ")}.` : "",
        `\`${path} ${verb.name()} ${verb.usage()}\``,
      ];
      if (rows.length > 0) blocks.push(table(["argument or option", "meaning"], rows));
      return [...blocks.filter((block) => block !== ""), ...describeVerbs(verb, name)];
    });
}
