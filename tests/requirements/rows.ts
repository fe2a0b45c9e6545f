/** The five documents we implement and what we say about each of their requirements. */
import { readText } from "../structure/repo-files.ts";

export type Row = {
  readonly id: string;
  readonly level: string;
  readonly section: string;
  readonly about: string;
  readonly state: "todo" | "done" | "n/a";
  /** Where a done requirement is kept: `src/path.ts#exportName`. */
  readonly by?: string;
  /** Why an n/a requirement does not apply to us. */
  readonly reason?: string;
  /** Its tests are written with `test.fails`, and turn red the day they pass. */
  readonly knownFailure?: boolean;
};

export type Document = { readonly label: string; readonly rows: readonly Row[] };

const FILES: Readonly<Record<string, string>> = {
  "MCP-AX": "mcp-ax.json",
  MCPx: "mcpx.json",
  MACP: "macp.json",
  MGP: "mgp.json",
  ASP: "asp.json",
};

export function readDocuments(): Document[] {
  return Object.entries(FILES).map(([label, file]) => ({
    label,
    rows: JSON.parse(readText(`tests/requirements/${file}`)) as Row[],
  }));
}

/** `ASP 0 done, 0 n/a, 557 todo of 557` */
export function summarize({ label, rows }: Document): string {
  const count = (state: Row["state"]) => rows.filter((row) => row.state === state).length;
  return `${label} ${count("done")} done, ${count("n/a")} n/a, ${count("todo")} todo of ${rows.length}`;
}
