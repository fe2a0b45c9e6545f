import { execFileSync } from "node:child_process";
import { Argument, Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { bashScript } from "./bash-script.ts";
import { describeProgram } from "./describe-program.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

function program(): Command {
  const made = new Command("isthmus");
  made.command("call").argument("<name>").description("Calls a tool. And more.").option("--config <file>", "the file");
  made
    .command("list")
    .description("Lists what's there.")
    .addOption(new Option("--how <way>", "x").choices(["a", "b"]));
  made
    .command("token")
    .addArgument(new Argument("<action>", "x").choices(["create", "list"]))
    .argument("[id]", "y");
  made.command("secret", { hidden: true });
  return made;
}

const verbs = describeProgram(program(), { call: "tool", "--config": "file" });

describe("describeProgram", () => {
  test("reads verbs and options from the command line, and leaves out what is hidden", () => {
    expect(verbs.map(({ name }) => name)).toEqual(["call", "list", "token", "help"]);
    expect(verbs[0]).toEqual({
      name: "call",
      about: "Calls a tool",
      takes: "tool",
      options: [
        { flag: "--config", about: "the file", takes: "file" },
        { flag: "--help", about: "display help for command", takes: "nothing" },
      ],
    });
    expect(verbs[1]?.options[0]?.takes).toEqual(["a", "b"]);
  });
});

/** What bash offers at the end of a line. */
function complete(...words: string[]): string[] {
  const script = `isthmus() { echo "tool.one tool.two"; }
${bashScript(verbs)}
COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _isthmus; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
}

describe("bashScript", () => {
  test("completes verbs, options, values of options, and the names of tools", () => {
    expect(complete("isthmus", "")).toEqual(["call", "list", "token", "help"]);
    expect(complete("isthmus", "li")).toEqual(["list"]);
    expect(complete("isthmus", "call", "--c")).toEqual(["--config"]);
    expect(complete("isthmus", "list", "--how", "")).toEqual(["a", "b"]);
    expect(complete("isthmus", "call", "tool.t")).toEqual(["tool.two"]);
    expect(complete("isthmus", "list", "")).toEqual([]);
  });

  test("completes what a verb can do, as its first word only", () => {
    expect(complete("isthmus", "token", "")).toEqual(["create", "list"]);
    expect(complete("isthmus", "token", "cr")).toEqual(["create"]);
    expect(complete("isthmus", "token", "create", "")).toEqual([]);
  });
});

describe("zshScript", () => {
  test("names every verb with its meaning, quoted, and asks for tools", () => {
    const script = zshScript(verbs);
    expect(script).toMatch(/^#compdef isthmus\n/);
    expect(script).toContain("    'list:Lists what'\\''s there'\n");
    expect(script).toContain("    call) _arguments '--config[the file]:value:_files'");
    expect(script).toContain("'*:word:($(isthmus complete tool 2>/dev/null))' ;;");
    expect(script).toContain("'--how[x]:value:(a b)'");
    expect(script).toMatch(/^ {4}token\) _arguments .*'1:word:\(create list\)' ;;$/m);
  });
});

describe("fishScript", () => {
  test("names every verb with its meaning, quoted, and asks for tools", () => {
    const script = fishScript(verbs);
    expect(script).toContain("complete -c isthmus -n __fish_use_subcommand -a list -d 'Lists what\\'s there'\n");
    expect(script).toContain("-n '__fish_seen_subcommand_from call' -a '(isthmus complete tool 2>/dev/null)'\n");
    expect(script).toContain("-n '__fish_seen_subcommand_from call' -l config -x -F -d 'the file'\n");
    expect(script).toContain("-n '__fish_seen_subcommand_from list' -l how -x -a 'a b' -d 'x'\n");
    expect(script).toContain("token; and not __fish_seen_subcommand_from create list' -a 'create list'\n");
  });
});
