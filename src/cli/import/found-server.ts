/** One server of a client's file, in our words, or why it cannot be taken. */
import { fillDefaults } from "../../server/config/references.ts";
import type { NewServer, Reference } from "../config-file/server-text.ts";
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import { referenceFor, textFor, type VariableContext } from "./variables.ts";

export type FoundServer = {
  /** As the client calls it. */
  readonly name: string;
  /** Undefined: it cannot be taken, and `notes` says why. */
  readonly server: Omit<NewServer, "id"> | undefined;
  readonly notes: readonly string[];
};

export function refused(name: string, why: string): FoundServer {
  return { name, server: undefined, notes: [why] };
}

/** An entry of `mcpServers`, or of VS Code's `servers`. */
export function readEntry(name: string, entry: JsonObject, context: Omit<VariableContext, "note">): FoundServer {
  const notes: string[] = [];
  const own: VariableContext = { ...context, note: (text) => notes.push(text) };
  if (entry.disabled === true) return refused(name, "is disabled there");
  const written = textOf(entry.url) ?? textOf(entry.serverUrl) ?? textOf(entry.httpUrl);
  const command = textOf(entry.command);
  if (entry.envFile !== undefined) notes.push("its envFile is not read; name its variables under env");
  if (command !== undefined && command !== "") return { name, server: stdioServer(command, entry, own), notes };
  if (written === undefined) return refused(name, "has neither a command nor a url");
  const url = textFor("its url", written, own);
  const now = fillDefaults(url, context.env);
  if (!/^https?:\/\//.test(now) || !URL.canParse(now)) return refused(name, `has a url that is not http(s): ${url}`);
  const isSse = entry.type === "sse" || entry.transport === "sse";
  const server = {
    ...(isSse && { transport: "sse" as const }),
    url,
    headers: referencesIn(entry.headers ?? objectOf(entry.requestInit).headers, own),
  };
  return { name, server, notes };
}

function stdioServer(command: string, entry: JsonObject, context: VariableContext): Omit<NewServer, "id"> {
  const cwd = textOf(entry.cwd);
  return {
    command: textFor("its command", command, context),
    args: listOf(entry.args).map((arg) => textFor("an argument", String(arg), context)),
    ...(cwd !== undefined && { cwd: textFor("its cwd", cwd, context) }),
    env: referencesIn(entry.env, context),
  };
}

/** Numbers and switches are texts in an environment. */
function referencesIn(table: unknown, context: VariableContext): Record<string, Reference> {
  const pairs = Object.entries(objectOf(table)).filter(([, value]) => value !== null && !isObject(value));
  return Object.fromEntries(pairs.map(([key, value]) => [key, referenceFor(String(value), context)]));
}
