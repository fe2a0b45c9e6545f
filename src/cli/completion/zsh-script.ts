import type { CompletedVerb, Taken } from "./describe-program.ts";

/** Put it on the function path as `_isthmus`, or source it after compinit. */
export function zshScript(verbs: readonly CompletedVerb[]): string {
  return `#compdef isthmus
_isthmus() {
  local -a verbs
  verbs=(
${verbs.map(({ name, about }) => `    ${quote(`${name}:${about}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$verb" in
${verbs.map(verbCase).join("\n")}
  esac
}
compdef _isthmus isthmus
`;
}

function verbCase({ name, options, takes }: CompletedVerb): string {
  const specs = options.map(({ flag, about, takes: value }) => {
    const action = value === "nothing" ? "" : `:value:${actionOf(value)}`;
    return quote(`${flag}[${about.replace(/[[\]:]/g, " ")}]${action}`);
  });
  return `    ${name}) _arguments ${[...specs, quote(`${Array.isArray(takes) ? "1" : "*"}:word:${actionOf(takes)}`)].join(" ")} ;;`;
}

function actionOf(takes: Taken): string {
  if (takes === "nothing" || takes === "text") return " ";
  if (takes === "file") return "_files";
  return typeof takes === "string" ? `($(isthmus complete ${takes} 2>/dev/null))` : `(${takes.join(" ")})`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
