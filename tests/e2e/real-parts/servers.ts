/** The servers behind the gateway, each as its makers ship it. */
import { join } from "node:path";
import { partPath } from "./part.ts";

export type PartServer = {
  readonly id: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

const official = (name: string): string => partPath(`@modelcontextprotocol/${name}/dist/index.js`);

/** `folder` holds what the servers of files and of memory read and write. */
export function describeServers(folder: string): PartServer[] {
  return [
    { id: "everything", args: [official("server-everything"), "stdio"], env: {} },
    { id: "files", args: [official("server-filesystem"), folder], env: {} },
    {
      id: "memory",
      args: [official("server-memory")],
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    },
    // It looks for a browser only when a tool is called, so it lists on a machine that has none.
    { id: "playwright", args: [partPath("@playwright/mcp/cli.js"), "--headless"], env: {} },
  ];
}

export function asConfig(servers: readonly PartServer[]): string {
  const tables = servers.map(({ id, args, env }) => {
    const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    return [
      "[[servers]]",
      `id = "${id}"`,
      `command = ${JSON.stringify(process.execPath)}`,
      `args = ${JSON.stringify(args)}`,
      "[servers.env]",
      ...variables,
    ].join("\n");
  });
  return `${tables.join("\n\n")}\n`;
}
