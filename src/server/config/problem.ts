/** What is wrong with a config, and where. */
import type { KeyPath } from "./toml-lines.ts";

export type Problem = {
  readonly path: KeyPath;
  /** What would be right, what was found. Holds no secret. */
  readonly text: string;
};

/** Where something is written. */
export type Origin = {
  /** As a person would name the file from where the program runs. */
  readonly file: string;
  /** Relative paths in it start here. */
  readonly folder: string;
  readonly line: number | undefined;
  /** The nearest file has 0. */
  readonly rank: number;
};

/** Where an option or a variable stands: in no file. */
export function givenBy(name: string): Origin {
  return { file: name, folder: process.cwd(), rank: -1, line: undefined };
}

/** More lines than this help nobody. */
const MAX_PROBLEMS = 20;
const MAX_LENGTH = 400;

/** One line each, `isthmus.toml:12: servers.crm.url: expected …`, in the order in which they stand in the files. */
export function reportProblems(
  problems: readonly Problem[],
  where: { readonly table: unknown; readonly originOf: (path: KeyPath) => Origin | undefined },
): string[] {
  const placed = problems.map(({ path, text }) => ({ origin: where.originOf(path), path, text }));
  placed.sort((a, b) => rankOf(a.origin) - rankOf(b.origin) || lineOf(a.origin) - lineOf(b.origin));
  const lines = placed.slice(0, MAX_PROBLEMS).map(({ origin, path, text }) => {
    return onOneLine(`${placeText(origin)}${formatPath(path, where.table)}: ${text}`);
  });
  const left = placed.length - lines.length;
  return left > 0 ? [...lines, `and ${left} more; these come first`] : lines;
}

function placeText(origin: Origin | undefined): string {
  if (!origin) return "";
  return origin.line === undefined ? `${origin.file}: ` : `${origin.file}:${origin.line}: `;
}

const rankOf = (origin: Origin | undefined) => origin?.rank ?? -1;
const lineOf = (origin: Origin | undefined) => origin?.line ?? 0;

/** Text of the file may steer a terminal, or be very long. */
export function onOneLine(text: string): string {
  const plain = text.replace(/\p{C}+/gu, "\uFFFD");
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}

/** `servers.crm.url`: a server is named by its id where it has one. */
function formatPath(path: KeyPath, table: unknown): string {
  return path.reduce<string>((text, part, index) => {
    if (typeof part !== "number") return text === "" ? shortKey(part) : `${text}.${shortKey(part)}`;
    const id = valueAt(table, [...path.slice(0, index + 1), "id"]);
    return typeof id === "string" && id !== "" ? `${text}.${shortKey(id)}` : `${text}[${part}]`;
  }, "");
}

function shortKey(key: PropertyKey): string {
  const text = String(key);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

export function valueAt(table: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Record<PropertyKey, unknown>)[part]
        : undefined,
    table,
  );
}
