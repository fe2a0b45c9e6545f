/** A client's file with one server, this gateway. Everything else in the file stays as it is, comments included. */
import type { Environment } from "../../server/config/index.ts";
import type { JsonObject } from "../json.ts";
import { npxWords } from "../program-name.ts";
import type { ClientDocument } from "./client-document.ts";
import { nodeAt, parseJsonc } from "./jsonc.ts";

export type OurEntry =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly type?: string; readonly url: string }
  | { readonly serverUrl: string }
  | { readonly httpUrl: string };

/** The servers that the client has then. `kept`: the names of entries that stay, because they are nowhere else. */
export function serversWithUs(
  { path = [], entries }: ClientDocument,
  ours: OurEntry,
  kept: readonly string[],
): JsonObject {
  const isVsCode = path.at(-1) === "servers";
  const type = "command" in ours ? "stdio" : "http";
  const entry: JsonObject = isVsCode ? { type, ...ours } : { ...ours };
  return Object.fromEntries([["isthmus", entry], ...kept.map((name) => [name, entries[name]])]);
}

export function pointAtUs(document: ClientDocument, ours: OurEntry, kept: readonly string[]): string {
  const { text, path = [] } = document;
  const node = nodeAt(parseJsonc(text), path);
  if (!node) return text;
  const servers = serversWithUs(document, ours, kept);
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const line = text.slice(text.lastIndexOf("\n", node.start) + 1, node.start);
  const margin = /^[ \t]*/.exec(line)?.[0] ?? "";
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const written = JSON.stringify(servers, null, unit).replaceAll("\n", `${end}${margin}`);
  return text.slice(0, node.start) + written + text.slice(node.end);
}

/**
 * How a client starts this program: by npx where that has fetched it, else by the files that run now. Desktop programs have
 * another PATH than shells, so names that are found here may not be found there.
 */
export function ourCommand(program: string, env: Environment, config: string): OurEntry {
  const args = ["stdio", "--config", config];
  if (/[/\\]_npx[/\\]/.test(program)) return { command: "npx", args: ["-y", ...npxWords(env), ...args] };
  return { command: process.execPath, args: [program, ...args] };
}

/** How a client's file names an address of Streamable HTTP; undefined: it cannot, because the client starts all that it names. */
export function ourAddress(client: string, url: string): OurEntry | undefined {
  switch (client) {
    case "claude":
      return undefined;
    // Without a type these take it for a command, and for the HTTP+SSE of 2024.
    case "claude-code":
      return { type: "http", url };
    case "cline":
      return { type: "streamableHttp", url };
    case "windsurf":
      return { serverUrl: url };
    // Its `url` is for HTTP+SSE.
    case "gemini":
      return { httpUrl: url };
    default:
      return { url };
  }
}

/** How a client that starts all that it names reaches an address: by a program that others make. */
export function bridgeTo(url: string): OurEntry {
  return { command: "npx", args: ["-y", "mcp-remote", url] };
}
