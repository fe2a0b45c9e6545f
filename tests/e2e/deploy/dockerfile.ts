/** What a Dockerfile says, as far as a test without Docker can do it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../kit/program.ts";

export type Instruction = { readonly verb: string; readonly text: string };
export type Stage = { readonly from: string; readonly instructions: readonly Instruction[] };

export function readDockerfile(path: string): Stage[] {
  const text = readFileSync(join(ROOT, path), "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const stages: { from: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, verb = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (verb === "FROM") stages.push({ from: rest, instructions: [] });
    else stages.at(-1)?.instructions.push({ verb, text: rest });
  }
  return stages;
}

export function textsOf(stage: Stage | undefined, verb: string): string[] {
  return (stage?.instructions ?? []).filter((one) => one.verb === verb).map(({ text }) => text);
}

/** Of an instruction whose text is, or ends with, a list of words in JSON. */
export function wordsOf(text = ""): string[] {
  return JSON.parse(text.slice(text.indexOf("["))) as string[];
}
