/** The fenced blocks of a page, and whether a program printed what the page shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./program.ts";

export type Block = {
  readonly language: string;
  /** What stands behind the language: the name of a file, or how a command is run. */
  readonly note: string;
  readonly text: string;
  /** Where it begins, for complaints: "docs/guide/naming.md:12". */
  readonly place: string;
};

const FENCED = /^```(\w*)(?: +(\S+))?\n([\s\S]*?)^```$/gm;

/** What is to be typed. */
export const isCommand = ({ language }: Block): boolean => language === "sh";

/** `page` is a path from the root of the repository. */
export function readBlocks(page: string): Block[] {
  const markdown = readFileSync(join(ROOT, page), "utf8");
  return [...markdown.matchAll(FENCED)].map(({ 1: language = "", 2: note = "", 3: text = "", index }) => ({
    language,
    note,
    text,
    place: `${page}:${markdown.slice(0, index).split("\n").length}`,
  }));
}

/** The first block of that language. */
export function blockOf(page: string, language: string): string {
  const block = readBlocks(page).find((candidate) => candidate.language === language);
  if (!block) throw new Error(`${page} has no ${language} block`);
  return block.text;
}

/** `…` stands for any text of a line, or, alone on a line, for any lines. Whether all of `printed` must fit is `extent`. */
export function fitsShown(shown: string, printed: string, extent: "all" | "beginning"): boolean {
  const lines = shown.trimEnd().split("\n");
  const pattern = lines
    .map((line) => (line.trim() === "…" ? "(?:.*\n)*?" : `${line.split("…").map(literally).join("[^\n]*")}[ \t]*\n`))
    .join("");
  return new RegExp(`^${pattern}${extent === "all" ? "$" : ""}`).test(`${printed.trimEnd()}\n`);
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
