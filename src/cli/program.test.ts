import { describe, expect, test } from "vitest";
import { createProgram } from "./program.ts";

const verbs = createProgram().commands.filter((command) => command.description() !== "" && !isHidden(command.name()));

function isHidden(name: string): boolean {
  return !createProgram()
    .createHelp()
    .visibleCommands(createProgram())
    .some((visible) => visible.name() === name);
}

describe("the command line", () => {
  test("has the verbs that people know", () => {
    expect(verbs.map((verb) => verb.name())).toEqual(
      expect.arrayContaining([
        "up",
        "stdio",
        "add",
        "import",
        "list",
        "call",
        "search",
        "trace",
        "doctor",
        "completion",
      ]),
    );
  });

  test("names every word for a verb in its help", () => {
    const program = createProgram();
    const up = program.commands.find((verb) => verb.name() === "up");
    expect(program.helpInformation()).toMatch(/^ {2}up\|start\|serve /m);
    expect(up?.helpInformation()).toContain("Usage: isthmus up|start|serve [options]\n");
  });

  // What `stdio` writes to standard output is MCP.
  test.each(verbs.filter((verb) => verb.name() !== "stdio"))("$_name can print JSON", (verb) => {
    expect(verb.options.map(({ long }) => long)).toContain("--json");
  });

  test.each(verbs)("$_name says what it does, and what each of its words means", (verb) => {
    expect(verb.description()).toMatch(/^[A-Z].{10,}/);
    for (const { flags, description } of verb.options) expect(description, flags).not.toBe("");
    for (const argument of verb.registeredArguments) expect(argument.description, argument.name()).not.toBe("");
  });
});
