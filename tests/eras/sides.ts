/** The two sides of the matrix. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pathOf } from "../needs/need.ts";
import { parts, pythonSdk } from "../needs/programs.ts";
import { type Running, startServer } from "./processes.ts";

type Side = { readonly id: string; readonly title: string; readonly revision: "2025-11-25" | "2026-07-28" };

export type Client = Side & {
  /** The driver, without the arguments of drive.ts. */
  command(): Promise<readonly string[]>;
};

export type Server = Side & {
  /** Which part of names.json it goes by. */
  readonly names: "fixture" | "everything";
  start(): Promise<Running>;
};

const node = (program: URL, ...args: string[]) => [process.execPath, fileURLToPath(program), ...args];
const clientV1 = new URL("./client-v1.ts", import.meta.url);
const clientV2 = new URL("./client-v2.ts", import.meta.url);
const clientPython = new URL("./client-python.py", import.meta.url);
const serverV1 = new URL("./server-v1.ts", import.meta.url);
const serverV2 = new URL("./server-v2.ts", import.meta.url);

export const CLIENTS: readonly Client[] = [
  { id: "v1", title: "TypeScript v1", revision: "2025-11-25", command: async () => node(clientV1) },
  {
    id: "v2-2025",
    title: "TypeScript v2",
    revision: "2025-11-25",
    command: async () => node(clientV2, "--mode", "legacy"),
  },
  {
    id: "python-2025",
    title: "Python",
    revision: "2025-11-25",
    command: async () => [pathOf(pythonSdk), fileURLToPath(clientPython), "--mode", "legacy"],
  },
  {
    id: "v2-2026",
    title: "TypeScript v2",
    revision: "2026-07-28",
    command: async () => node(clientV2, "--mode", "modern"),
  },
  {
    id: "python-2026",
    title: "Python",
    revision: "2026-07-28",
    command: async () => [pathOf(pythonSdk), fileURLToPath(clientPython), "--mode", "modern"],
  },
];

export const SERVERS: readonly Server[] = [
  {
    id: "v1",
    title: "TypeScript v1 with sessions",
    revision: "2025-11-25",
    names: "fixture",
    start: () => startFixture(node(serverV1)),
  },
  {
    id: "v2-2025",
    title: "TypeScript v2 with sessions",
    revision: "2025-11-25",
    names: "fixture",
    start: () => startFixture(node(serverV2, "--mode", "legacy")),
  },
  { id: "everything", title: "server-everything", revision: "2025-11-25", names: "everything", start: startEverything },
  {
    id: "v2-2026",
    title: "TypeScript v2",
    revision: "2026-07-28",
    names: "fixture",
    start: () => startFixture(node(serverV2, "--mode", "modern")),
  },
];

/** In the order of the table. */
export const FEATURES: readonly string[] = Object.keys(
  JSON.parse(readFileSync(new URL("./names.json", import.meta.url), "utf8")).fixture,
);

async function startFixture(command: readonly string[]): Promise<Running> {
  const [url, stop] = await startServer(command, /http:\S+/);
  return { url, stop };
}

async function startEverything(): Promise<Running> {
  const program = pathToFileURL(join(pathOf(parts), "@modelcontextprotocol/server-everything/dist/index.js"));
  const port = await freePort();
  const [, stop] = await startServer(node(program, "streamableHttp"), /listening on port/, { PORT: String(port) });
  return { url: `http://127.0.0.1:${port}/mcp`, stop };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
