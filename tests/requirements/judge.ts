/** The rules that keep the requirement lists honest. Pure: data in, problems out. */
import type { Citation } from "./citations.ts";
import { hasExport } from "./exports.ts";
import type { Document, Row } from "./rows.ts";

const MOST_IDS_PER_TEST = 5;

/** Reads a file of the repository, or gives undefined when there is none. */
export type ReadFile = (path: string) => string | undefined;

export function findProblems(documents: readonly Document[], citations: readonly Citation[], read: ReadFile): string[] {
  const rows = documents.flatMap((document) => document.rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [
    ...findDuplicates(rows),
    ...rows.flatMap((row) =>
      judgeRow(
        row,
        citations.filter((citation) => citation.ids.includes(row.id)),
        read,
      ),
    ),
    ...citations.flatMap((citation) => judgeCitation(citation, byId)),
  ];
}

function findDuplicates(rows: readonly Row[]): string[] {
  const seen = new Set<string>();
  return rows.filter((row) => seen.size === seen.add(row.id).size).map((row) => `${row.id} is listed twice`);
}

function judgeRow(row: Row, cited: readonly Citation[], read: ReadFile): string[] {
  const problems: string[] = [];
  if (row.knownFailure === true) problems.push(...judgeKnownFailure(row, cited));
  switch (row.state) {
    case "todo":
      break;
    case "n/a":
      if (!row.reason?.trim()) problems.push(`${row.id} is n/a without a reason`);
      break;
    case "done":
      if (!cited.some((citation) => !citation.fails || row.knownFailure))
        problems.push(`${row.id} is done, but no test cites it`);
      problems.push(...judgeSource(row, read));
      break;
    default:
      problems.push(`${row.id} has the unknown state "${row.state satisfies never}"`);
  }
  return problems;
}

function judgeKnownFailure(row: Row, cited: readonly Citation[]): string[] {
  if (cited.length === 0) return [`${row.id} is a known failure, but no test.fails cites it`];
  return cited
    .filter((citation) => !citation.fails)
    .map(
      ({ file, name }) => `${row.id} is listed as a known failure, but "${name}" in ${file} passes without test.fails`,
    );
}

function judgeSource(row: Row, read: ReadFile): string[] {
  const [path = "", name = ""] = row.by?.split("#") ?? [];
  if (!path.startsWith("src/") || name === "")
    return [`${row.id} is done, but "by" is not of the form src/path.ts#exportName`];
  const source = read(path);
  if (source === undefined) return [`${row.id} is done by ${path}, which does not exist`];
  return hasExport(source, name)
    ? []
    : [`${row.id} is done by ${path}#${name}, but that file declares no such exported function, const or class`];
}

function judgeCitation(citation: Citation, byId: ReadonlyMap<string, Row>): string[] {
  const where = `"${citation.name}" in ${citation.file}`;
  const problems = citation.stray.map((id) => `${where} names ${id} outside brackets of its own; write [${id}]`);
  if (citation.ids.length > MOST_IDS_PER_TEST) {
    problems.push(`${where} cites ${citation.ids.length} ids; over ${MOST_IDS_PER_TEST} a test proves none of them`);
  }
  for (const id of citation.ids) {
    const row = byId.get(id);
    if (row === undefined) problems.push(`${where} cites ${id}, which does not exist`);
    else if (row.state === "n/a") problems.push(`${where} cites ${id}, which is n/a`);
  }
  return problems;
}
