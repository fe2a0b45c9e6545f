/** How a server is started or reached, with `${NAME:-default}` filled in: what the variable holds at the moment, else the default. */
import type { ServerConfig } from "./config.ts";
import type { Environment } from "./find-config.ts";
import { valueAt } from "./problem.ts";
import { fillDefaults } from "./references.ts";

const KEYS: ReadonlySet<string> = new Set(["command", "args", "cwd", "url"]);

/** `servers`: as it is written. What has another form stays, so that the schema speaks about it. */
export function fillServers(servers: unknown, env: Environment): unknown {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return fillDefaults(value, env);
    return Array.isArray(value) ? value.map(fill) : value;
  };
  if (!Array.isArray(servers)) return servers;
  return servers.map((server: unknown) => {
    if (typeof server !== "object" || server === null) return server;
    return Object.fromEntries(Object.entries(server).map(([key, value]) => [key, KEYS.has(key) ? fill(value) : value]));
  });
}

/** What people may be shown of a server: its words as they are written, where variables were filled in. */
export function wordsWritten(written: unknown, filled: Readonly<Record<string, unknown>>): ServerConfig["written"] {
  const changed = ["command", "url"].flatMap((key) => {
    const text = valueAt(written, [key]);
    return typeof text === "string" && text !== filled[key] ? [[key, text]] : [];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
