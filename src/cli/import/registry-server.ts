/** A `server.json` of the MCP registry: how to start or reach the server it describes. */
import type { Reference } from "../config-file/server-text.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { type FoundServer, refused } from "./found-server.ts";

type Package = { readonly command: string; readonly args: readonly string[] };
type Note = (text: string) => void;

/** By `registryType`: what starts a package. */
const RUNNERS: Readonly<
  Record<string, (identifier: string, version: string | undefined, env: readonly string[]) => Package>
> = {
  npm: (id, version) => ({ command: "npx", args: ["-y", version ? `${id}@${version}` : id] }),
  pypi: (id, version) => ({ command: "uvx", args: [version ? `${id}@${version}` : id] }),
  oci: (id, version, env) => ({
    command: "docker",
    args: [
      "run",
      "-i",
      "--rm",
      ...env.flatMap((name) => ["-e", name]),
      version && !/[:@]/.test(id) ? `${id}:${version}` : id,
    ],
  }),
};

export function isRegistryServer(document: JsonObject): boolean {
  return typeof document.name === "string" && (Array.isArray(document.packages) || Array.isArray(document.remotes));
}

/** The first package that can be started, else the first remote. */
export function readRegistryServer(document: JsonObject): FoundServer {
  const full = textOf(document.name) ?? "";
  const name = full.split("/").at(-1) || full;
  const notes: string[] = [];
  const note: Note = (text) => notes.push(text);
  for (const entry of objectsIn(document.packages)) {
    const server = packageServer(entry, textOf(document.version), note);
    if (server) return { name, server, notes };
  }
  const [remote] = objectsIn(document.remotes);
  const url = textOf(remote?.url);
  if (!remote || url === undefined) {
    return refused(name, `has no package of ${Object.keys(RUNNERS).join(", ")} and no remote`);
  }
  const isSse = (textOf(remote.type) ?? textOf(remote.transport_type)) === "sse";
  const headers = inputsOf(remote.headers, note);
  if (/\{\w+\}/.test(url)) note(`its url has places to fill in: ${url}`);
  return { name, server: { ...(isSse && { transport: "sse" as const }), url, headers }, notes };
}

function packageServer(entry: JsonObject, version: string | undefined, note: Note): FoundServer["server"] {
  const kind = textOf(entry.registryType) ?? textOf(entry.registry_type) ?? textOf(entry.registry_name) ?? "";
  const runner = Object.hasOwn(RUNNERS, kind) ? RUNNERS[kind] : undefined;
  const identifier = textOf(entry.identifier) ?? textOf(entry.name);
  const transport = textOf(objectOf(entry.transport).type) ?? "stdio";
  if (!runner || identifier === undefined || transport !== "stdio") return undefined;
  const env = inputsOf(entry.environmentVariables ?? entry.environment_variables, note);
  const { command, args } = runner(identifier, textOf(entry.version) ?? version, Object.keys(env));
  const more = argumentsOf(entry.packageArguments ?? entry.package_arguments, note);
  const before = argumentsOf(entry.runtimeArguments ?? entry.runtime_arguments, note);
  const [last = "", ...rest] = args.toReversed();
  return { command, args: [...rest.toReversed(), ...before, last, ...more], env };
}

/** Variables or headers: a value that is given stands there, one that is wanted comes from the environment. */
function inputsOf(list: unknown, note: Note): Record<string, Reference> {
  const entries = objectsIn(list).flatMap((input): [string, Reference][] => {
    const name = textOf(input.name) ?? "";
    const value = textOf(input.value) ?? textOf(input.default);
    if (name === "") return [];
    if (value !== undefined && input.isSecret !== true && !/\{\w+\}/.test(value)) return [[name, value]];
    if (input.isRequired !== true && input.is_required !== true) return [];
    const variable = name.replace(/\W+/g, "_").toUpperCase();
    note(`set ${variable} before the gateway starts${describe(input)}`);
    return [[name, { fromEnv: variable }]];
  });
  return Object.fromEntries(entries);
}

function argumentsOf(list: unknown, note: Note): string[] {
  return objectsIn(list).flatMap((input) => {
    const value = textOf(input.value) ?? textOf(input.default);
    const flag = input.type === "named" ? textOf(input.name) : undefined;
    if (value === undefined && (flag === undefined || input.format !== "boolean")) {
      if (input.isRequired === true) {
        note(`add the argument ${flag ?? textOf(input.valueHint) ?? "that it needs"} to its args${describe(input)}`);
      }
      return [];
    }
    return [...(flag === undefined ? [] : [flag]), ...(value === undefined ? [] : [value])];
  });
}

function describe(input: JsonObject): string {
  const about = textOf(input.description);
  return about ? ` (${about})` : "";
}
