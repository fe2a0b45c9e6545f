/** A client's file with one server, this gateway. Everything else in the file stays as it is, comments included. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../../server/config/index.ts";
import type { JsonObject } from "../json.ts";
import type { ClientDocument } from "./client-document.ts";
import { nodeAt, parseJsonc } from "./jsonc.ts";

export type OurEntry = { readonly command: string; readonly args: readonly string[] } | { readonly url: string };

/** `kept`: the names of entries that stay, because they are nowhere else. */
export function pointAtUs(
  { text, path = [], entries }: ClientDocument,
  ours: OurEntry,
  kept: readonly string[],
): string {
  const node = nodeAt(parseJsonc(text), path);
  if (!node) return text;
  const isVsCode = path.at(-1) === "servers";
  const type = "url" in ours ? "http" : "stdio";
  const entry: JsonObject = isVsCode ? { type, ...ours } : { ...ours };
  const servers = Object.fromEntries([["isthmus", entry], ...kept.map((name) => [name, entries[name]])]);
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const line = text.slice(text.lastIndexOf("\n", node.start) + 1, node.start);
  const margin = /^[ \t]*/.exec(line)?.[0] ?? "";
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const written = JSON.stringify(servers, null, unit).replaceAll("\n", `${end}${margin}`);
  return text.slice(0, node.start) + written + text.slice(node.end);
}

/** How a client starts this program: by its name where that is found, else by the files that run now. */
export function ourCommand(program: string, env: Environment, config: string): OurEntry {
  const args = ["stdio", "--config", config];
  const isFound = (env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, "isthmus")));
  return isFound ? { command: "isthmus", args } : { command: process.execPath, args: [program, ...args] };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
