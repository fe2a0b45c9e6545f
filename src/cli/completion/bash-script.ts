import type { CompletedVerb, Taken } from "./describe-program.ts";

/** Source it from `~/.bashrc`: `source <(isthmus completion bash)`. */
export function bashScript(verbs: readonly CompletedVerb[]): string {
  const names = verbs.map(({ name }) => name).join(" ");
  return `# bash completion for isthmus
_isthmus() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" verb="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
    return
  fi
  case "$verb $before" in
${verbs.flatMap(optionCases).join("\n")}
  esac
  case "$verb" in
${verbs.map(verbCase).join("\n")}
  esac
}
complete -o default -F _isthmus isthmus
`;
}

function optionCases({ name, options }: CompletedVerb): string[] {
  return options
    .filter(({ takes }) => takes !== "nothing")
    .map(({ flag, takes }) => `    "${name} ${flag}") ${completionOf(takes)}; return ;;`);
}

function verbCase({ name, options, takes }: CompletedVerb): string {
  const flags = options.map(({ flag }) => flag).join(" ");
  const isFirst = Array.isArray(takes) ? 'elif [ "$COMP_CWORD" -eq 2 ]; then' : "else";
  return `    ${name}) if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "${flags}" -- "$word")); ${isFirst} ${completionOf(takes)}; fi ;;`;
}

function completionOf(takes: Taken): string {
  if (takes === "nothing" || takes === "text") return ":";
  if (takes === "file") return 'COMPREPLY=($(compgen -f -- "$word"))';
  const words = typeof takes === "string" ? `$(isthmus complete ${takes} 2>/dev/null)` : takes.join(" ");
  return `COMPREPLY=($(compgen -W "${words}" -- "$word"))`;
}
