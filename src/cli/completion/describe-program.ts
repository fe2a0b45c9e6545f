/** What can be completed: the verbs with their options, read from the command line itself. */
import type { Command } from "commander";

export type CompletedVerb = {
  readonly name: string;
  readonly about: string;
  readonly options: readonly { readonly flag: string; readonly about: string; readonly takes: Taken }[];
  /** What stands behind the verb; of a list of words one, as the first. */
  readonly takes: Taken;
};

/** What a word stands for, as far as it can be completed. */
export type Taken = "nothing" | "text" | "file" | "tool" | "server" | readonly string[];

/** By verb, or by verb and option: what the command line itself does not know. */
export type Kinds = Readonly<Record<string, Taken>>;

export function describeProgram(program: Command, kinds: Kinds): CompletedVerb[] {
  const help = program.createHelp();
  return help.visibleCommands(program).map((verb) => ({
    name: verb.name(),
    about: firstSentence(verb.description()),
    takes: kinds[verb.name()] ?? verb.registeredArguments[0]?.argChoices ?? "nothing",
    options: help.visibleOptions(verb).flatMap(({ long, description, argChoices, required, optional }) => {
      if (!long) return [];
      const takes = argChoices ?? kinds[long] ?? (required || optional ? "text" : "nothing");
      return [{ flag: long, about: firstSentence(description), takes }];
    }),
  }));
}

function firstSentence(text: string): string {
  return text.split(/[.;:] ?/)[0] ?? "";
}
