/** What a test file needs of the machine, read from its imports, so that nobody has to write it down. */
import { readImports } from "../structure/imports.ts";
import { mask } from "../structure/mask.ts";
import { hasPath, readText } from "../structure/repo-files.ts";
import type { Need } from "./need.ts";
import * as programs from "./programs.ts";

const PROGRAMS = "tests/needs/programs.ts";
const NAMED = /\bimport\s*\{([^}]*)\}\s*from\s*["'][^"']*\/programs\.ts["']/g;
/** The product itself needs nothing of the machine. */
const FOLLOWED = /^(?:tests|bench)\//;

const ALL: Readonly<Record<string, Need>> = programs;

/** A file on the way: what it needs itself, which files it imports, and which of them only while it runs. */
type Step = {
  readonly needs: readonly Need[];
  readonly imports: readonly string[];
  readonly late: ReadonlySet<string>;
};
const steps = new Map<string, Step>();

/** Without it, the file cannot run at all. */
export function needsOfFile(path: string): Need[] {
  return collect(path, (step) => step.imports.filter((to) => !step.late.has(to)));
}

/** Also what it imports by `await import("…")`, if it finds it: without that a part of the file runs. */
export function wantsOfFile(path: string): Need[] {
  return collect(path, (step) => step.imports);
}

function collect(path: string, followed: (step: Step) => readonly string[]): Need[] {
  const needs = new Set<Need>();
  const files = new Set([path]);
  // The set grows while the loop goes through it.
  for (const file of files) {
    const step = steps.get(file) ?? readStep(file);
    steps.set(file, step);
    for (const need of step.needs) needs.add(need);
    for (const to of followed(step)) files.add(to);
  }
  return [...needs].sort((a, b) => a.name.localeCompare(b.name));
}

function readStep(file: string): Step {
  const text = readText(file);
  // A type is not there at run time, and needs nothing.
  const running = text.replaceAll(/^import type [^;]+;$/gm, "");
  const importsIn = (source: string) =>
    readImports(file, source)
      .map(({ to }) => to)
      .filter((to) => FOLLOWED.test(to) && hasPath(to));
  const imports = importsIn(running);
  const atOnce = new Set(importsIn(running.replaceAll(/\bimport\(/g, "load(")));
  const late = new Set(imports.filter((to) => !atOnce.has(to)));
  return { imports, late, needs: imports.includes(PROGRAMS) ? readNamed(text) : [] };
}

function readNamed(text: string): Need[] {
  // What stands in comments and strings is blanked in the mask.
  const masked = mask(text);
  return [...text.matchAll(NAMED)]
    .filter(({ index }) => masked.startsWith("import", index))
    .flatMap(([, list = ""]) => list.split(","))
    .flatMap((name) => ALL[name.trim().split(/\s+as\s+/)[0] ?? ""] ?? []);
}
