import { type Generator, type Page, page, REFERENCE, table } from "../page.ts";
import { from2025To2026, requestsOf2025 } from "./clients-2025.ts";
import { from2026To2025, requestsOf2026 } from "./clients-2026.ts";
import type { Row } from "./row.ts";
import { tasksOf2025, tasksOf2026 } from "./tasks.ts";

type Part = { readonly title: string; readonly rows: readonly Row[] };

export const PARTS: readonly Part[] = [
  { title: "A client of 2026-07-28, whatever server", rows: requestsOf2026 },
  { title: "A client of 2026-07-28, a server of 2025", rows: from2026To2025 },
  { title: "A client of 2025, whatever server", rows: requestsOf2025 },
  { title: "A client of 2025, a server of 2026-07-28", rows: from2025To2026 },
  { title: "Tasks of a client of 2026-07-28", rows: tasksOf2026 },
  { title: "Tasks of a client of 2025-11-25", rows: tasksOf2025 },
];

const INTRODUCTION =
  "What one era of MCP has and the other has not, and what comes of it. Numbers are the status over HTTP, then the code\n" +
  "of the JSON-RPC error. *The family's error* is, on `tools/call`, a result with `isError` and a text, and on any other\n" +
  'method error -32603; either way with our own code, in `_meta["dev.isthmus/error"]` or in `data` ([all codes](errors.md)).\n' +
  "Every row is shown by the test that stands in it.";

export const unmappedGenerator: Generator = { name: "unmapped", pages: async () => [unmappedPage(PARTS)] };

export function unmappedPage(parts: readonly Part[]): Page {
  const blocks = parts.flatMap(({ title, rows }) => [`## ${title}`, tableOf(rows)]);
  return page(`${REFERENCE}/unmapped.md`, "# What cannot be mapped between the eras", INTRODUCTION, ...blocks);
}

function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ what, gets, why, test: [file] }) => [what, gets, why, `\`${file}\``]);
  return table(["what", "what the caller gets", "why", "test"], cells);
}
