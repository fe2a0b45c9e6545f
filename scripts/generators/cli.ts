/** Turns the commander program into the reference of the command line: one section per verb. */
import type { Command } from "commander";
import { type Page, page, REFERENCE, table } from "./page.ts";

export function cliPage(program: Command): Page {
  return page(
    `${REFERENCE}/cli.md`,
    "# Command line",
    program.description(),
    ...describeVerbs(program, program.name()),
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
        ...help.visibleArguments(verb).map((argument) => [argument.name(), argument.description]),
        ...help.visibleOptions(verb).map((option) => [option.flags, help.optionDescription(option)]),
      ].map(([term = "", meaning = ""]) => [`\`${term}\``, meaning]);
      const blocks = [`## \`${name}\``, verb.description(), `\`${path} ${verb.name()} ${verb.usage()}\``];
      if (rows.length > 0) blocks.push(table(["argument or option", "meaning"], rows));
      return [...blocks.filter((block) => block !== ""), ...describeVerbs(verb, name)];
    });
}
