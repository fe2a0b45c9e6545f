import { expect, test } from "vitest";
import { namedPathsInFolders } from "./named-paths.ts";
import { hasPath, listFiles, readText } from "./repo-files.ts";

const PAGE = "SECURITY.md";
const ATTACKS = "tests/attacks/";
const BOTH = "1, 3";

type Row = { readonly attack: string; readonly processes: string; readonly files: readonly string[] };

/** The rows below "Attacks that are tried". */
function attackRows(markdown: string): Row[] {
  const [, section = ""] = markdown.split(/^### Attacks that are tried$/m);
  const lines = (section.split(/^### /m)[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| attack |"));
  return lines.map((line) => {
    const [, attack = "", processes = "", files = ""] = /^\| (.*) \| (.*) \| (.*) \|$/.exec(line) ?? [];
    return { attack, processes, files: namedPathsInFolders(files) };
  });
}

const ROWS = attackRows(readText(PAGE));

/** Whether it does the same to one process and to three. */
function triesThree(file: string): boolean {
  return file.startsWith(ATTACKS) && /\bdescribe(?:Attacks|Three)\(/.test(readText(file));
}

test("every path that SECURITY.md names exists", () => {
  const paths = namedPathsInFolders(readText(PAGE));
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !hasPath(path))).toEqual([]);
});

test("each row of its attacks names tests, and the number of processes as the others do", () => {
  expect(ROWS.length).toBeGreaterThan(50);
  expect(ROWS.filter(({ attack, files }) => attack === "" || files.length === 0)).toEqual([]);
  expect([...new Set(ROWS.map(({ processes }) => processes))].sort()).toEqual(["1", BOTH]);
  expect(ROWS.filter(({ attack }) => /\(in (?:one process|three)\b/.test(attack))).toEqual([]);
});

test("a row of three processes names a file that starts them", () => {
  expect(ROWS.filter(({ processes, files }) => processes === BOTH && !files.some(triesThree))).toEqual([]);
});

test("every file of attacks is in the table, and those of three processes in a row that says so", () => {
  const attacks = listFiles("tests/attacks", ".test.ts").filter((file) => !file.includes("/kit/"));
  const named = ROWS.flatMap(({ files }) => files);
  expect(attacks.filter((file) => !named.includes(file))).toEqual([]);
  const ofThree = ROWS.filter(({ processes }) => processes === BOTH).flatMap(({ files }) => files);
  expect(attacks.filter((file) => triesThree(file) && !ofThree.includes(file))).toEqual([]);
});
