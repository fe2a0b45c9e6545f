/** The verbs that speak to a gateway that runs, read from the program: one that is added is tried like the others. */
import type { Argument, Command } from "commander";
import { createProgram } from "../../../src/cli/program.ts";

/** What stands for an argument of that name; for any other a tool does. */
const WORDS: Readonly<Record<string, string>> = { user: "ada", principal: "ada", id: "0000", uri: "demo://none" };
const TOOL = "hello.greet";
/** Words without which a form has nothing to do. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  "call hello.greet": ["name=Ada"],
  "token create": ["--user", "ada"],
};

/** Each with its actions, such as `token list`, and with words for what it must be told. */
export function clientVerbs(): string[][] {
  const verbs = createProgram()
    .commands.filter(isClient)
    .flatMap((verb) => formsOf(verb));
  return verbs.map((words) => [...words, ...(MORE[words.slice(0, 2).join(" ")] ?? [])]);
}

/** `add` has a URL, too: that of a server. */
function isClient(verb: Command): boolean {
  return verb.name() !== "add" && verb.options.some(({ long }) => long === "--url");
}

function formsOf(verb: Command): string[][] {
  const [first, ...others] = verb.registeredArguments;
  const rest = (first?.argChoices ? others : verb.registeredArguments).filter(isTold).map(wordFor);
  return (first?.argChoices ?? [undefined]).map((action) => [verb.name(), ...(action ? [action] : []), ...rest]);
}

/** An id is what the verb is about, also where one of its actions or options does without. */
function isTold(argument: Argument): boolean {
  return argument.required || argument.name() === "id";
}

function wordFor(argument: Argument): string {
  return WORDS[argument.name()] ?? TOOL;
}
