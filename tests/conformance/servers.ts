/** Starts what the suite talks to: a fixture, or the built gateway in front of one. */
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { exitOf, freePort, startNode, stop } from "./processes.ts";

/** How the gateway reaches the server behind it. */
export type Upstream =
  | { readonly url: string; readonly auth?: Readonly<Record<string, unknown>> }
  | { readonly command: string; readonly args: readonly string[] };

export type Running = { readonly url: string; close(): Promise<void> };

const READY_MS = 15_000;

/** Resolves once the fixture has said where it listens. `folder` gets its log. */
export async function startFixture(server: string, folder: string): Promise<Running> {
  await mkdir(folder, { recursive: true });
  const child = startNode(server, ["--port", "0"], join(folder, "fixture.log"));
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const started = once(lines, "line", { signal: AbortSignal.timeout(READY_MS) });
  const [line] = await Promise.race([started, exitOf(child).then(() => [])]);
  if (line === undefined) throw new Error(`the fixture ended, see ${join(folder, "fixture.log")}`);
  return { url: String(line).replace("listening on ", ""), close: () => stop(child) };
}

/** Resolves once `/readyz` answers 200. `folder` gets the config and the log. Names are served unchanged. */
export async function startGateway(upstream: Upstream, folder: string): Promise<Running> {
  await mkdir(folder, { recursive: true });
  const config = join(folder, "isthmus.toml");
  const log = join(folder, "gateway.log");
  await writeFile(config, tomlFor(upstream));
  const listen = `127.0.0.1:${await freePort()}`;
  const child = startNode("dist/isthmus.js", ["up", "--config", config, "--listen", listen], log);
  const deadline = performance.now() + READY_MS;
  while (!(await isReady(listen))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() > deadline) {
      await stop(child);
      throw new Error(`the gateway ${hasEnded ? "ended" : "was not ready in time"}, see ${log}`);
    }
    await sleep(50);
  }
  return { url: `http://${listen}/mcp`, close: () => stop(child) };
}

// A JSON string, or array of strings, is also a TOML one.
function tomlFor({ ...upstream }: Upstream): string {
  const { auth, ...rest } = { auth: undefined, ...upstream };
  const table = `[[servers]]\n${linesFor({ id: "fixture", ...rest, prefix: "" })}\n`;
  return auth === undefined ? table : `${table}[servers.auth]\n${linesFor(auth)}\n`;
}

function linesFor(table: Readonly<Record<string, unknown>>): string {
  const written = (value: unknown) =>
    typeof value === "object" && !Array.isArray(value) ? `{ ${linesFor(Object(value))} }` : JSON.stringify(value);
  return Object.entries(table)
    .map(([key, value]) => `${key} = ${written(value)}`)
    .join("\n");
}

async function isReady(listen: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${listen}/readyz`, { signal: AbortSignal.timeout(1_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
