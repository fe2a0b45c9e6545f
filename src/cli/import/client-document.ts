/** A client's file as a whole: which kind it is, and the servers in it. */
import { isObject, type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { type FoundServer, readEntry, refused } from "./found-server.ts";
import { nodeAt, parseJsonc } from "./jsonc.ts";
import { isRegistryServer, readRegistryServer } from "./registry-server.ts";
import type { VariableContext } from "./variables.ts";

export type ClientDocument = {
  readonly text: string;
  /** Where its servers stand; undefined: it describes one server and belongs to no client. */
  readonly path: readonly string[] | undefined;
  readonly servers: readonly FoundServer[];
  /** The entries as the client has them. */
  readonly entries: Readonly<Record<string, unknown>>;
};

/** Claude, Cursor and most others; VS Code's mcp.json; VS Code's older settings. */
const PATHS: readonly (readonly string[])[] = [["mcpServers"], ["servers"], ["mcp", "servers"]];

/** Throws SyntaxError when it is no JSON, Error when it is nobody's. */
export function readClientDocument(text: string, context: Omit<VariableContext, "note" | "inputs">): ClientDocument {
  const root = parseJsonc(text);
  const document = objectOf(root.value);
  const registry = isObject(document.server) ? document.server : document;
  for (const path of PATHS) {
    const entries = nodeAt(root, path)?.value;
    if (!isObject(entries)) continue;
    const inputs = inputsOf(path.length > 1 ? objectOf(document.mcp) : document);
    const servers = Object.entries(entries).map(([name, entry]) =>
      isObject(entry) ? readEntry(name, entry, { ...context, inputs }) : refused(name, "is no object"),
    );
    return { text, path, servers, entries };
  }
  if (isRegistryServer(registry))
    return { text, path: undefined, servers: [readRegistryServer(registry)], entries: {} };
  throw new Error('has no servers; expected "mcpServers", "servers", or a server.json with packages or remotes');
}

function inputsOf(document: JsonObject): ReadonlyMap<string, string> {
  return new Map(
    objectsIn(document.inputs).map(({ id, description }) => [textOf(id) ?? "", textOf(description) ?? ""]),
  );
}
