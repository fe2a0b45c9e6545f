import type { Command } from "commander";
import { bashScript } from "../completion/bash-script.ts";
import { describeProgram, type Kinds } from "../completion/describe-program.ts";
import { fishScript } from "../completion/fish-script.ts";
import { zshScript } from "../completion/zsh-script.ts";
import { CLIENTS } from "../import/client-files.ts";
import { printJson, printText } from "../output/console.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<
  Shell,
  typeof bashScript
>;

const KINDS: Kinds = {
  call: "tool",
  show: "tool",
  remove: "server",
  enable: "server",
  disable: "server",
  completion: SHELLS,
  import: Object.keys(CLIENTS),
  "--config": "file",
  "--server": "server",
};

/** Prints the script that makes a shell complete verbs, options and the names of tools. */
export function completion(shell: Shell, program: Command, options: { readonly json?: boolean }): void {
  const script = SCRIPTS[shell](describeProgram(program, KINDS));
  if (options.json) printJson({ shell, script });
  else printText(script);
}
