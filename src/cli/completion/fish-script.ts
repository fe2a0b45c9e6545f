import type { CompletedVerb, Taken } from "./describe-program.ts";

/** Save it as `~/.config/fish/completions/isthmus.fish`. */
export function fishScript(verbs: readonly CompletedVerb[]): string {
  return `# fish completion for isthmus
complete -c isthmus -f
${verbs.flatMap(verbLines).join("\n")}
`;
}

function verbLines({ name, about, options, takes }: CompletedVerb): string[] {
  const seen = `-n '__fish_seen_subcommand_from ${name}'`;
  const words = argumentsOf(takes);
  return [
    `complete -c isthmus -n __fish_use_subcommand -a ${name} -d ${quote(about)}`,
    ...(words === "" ? [] : [`complete -c isthmus ${Array.isArray(takes) ? seenFirst(name, takes) : seen} ${words}`]),
    ...options.map(({ flag, about: meaning, takes: value }) => {
      const needs = value === "nothing" ? "" : `-x ${argumentsOf(value)}`;
      return `complete -c isthmus ${seen} -l ${flag.replace(/^--/, "")} ${needs} -d ${quote(meaning)}`.replace(
        / +/g,
        " ",
      );
    }),
  ];
}

function seenFirst(name: string, words: readonly string[]): string {
  return `-n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(" ")}'`;
}

function argumentsOf(takes: Taken): string {
  if (takes === "nothing" || takes === "text") return "";
  if (takes === "file") return "-F";
  return typeof takes === "string" ? `-a '(isthmus complete ${takes} 2>/dev/null)'` : `-a '${takes.join(" ")}'`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
