import { Ending } from "../ending.ts";
import { Prompter, type Terminal } from "./prompter.ts";

/** Where somebody can say yes; the question stays apart from what is printed. */
export function decidersTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process;
  return input.isTTY ? { input, output } : undefined;
}

/** Throws Ending, with `otherwise`, unless somebody there says yes. */
export async function makeSure(question: string, terminal: Terminal, otherwise: string): Promise<void> {
  const prompter = new Prompter(terminal);
  prompter.tell("");
  const answer = await prompter.ask(`${question} [y/N] `);
  prompter.close();
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new Ending("failure", [otherwise]);
}
