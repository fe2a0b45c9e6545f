/** Starts the measuring upstream, or says how a candidate can spawn it. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pinned, startProcess } from "../processes.ts";

export type Upstream = { toolCount: number; stop(): Promise<void> } & (
  | { kind: "http"; url: string; port: number; pid: number }
  | { kind: "stdio"; command: string; args: string[] }
);
export type UpstreamKind = Upstream["kind"];
/** 2025: up to 2025-11-25, with its handshake; 2026: 2026-07-28, without. */
export type Era = "2025" | "2026";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export async function startUpstream(kind: UpstreamKind, toolCount: number, era: Era = "2025"): Promise<Upstream> {
  const options = ["--tools", String(toolCount)];
  if (kind === "stdio") {
    // A child inherits its parent's core, so the command itself moves to the load's.
    const [command, args] = pinned("load", process.execPath, [fileOf("stdio-upstream.ts"), ...options]);
    return { kind, toolCount, command, args, stop: async () => {} };
  }
  const owned = startProcess({
    command: process.execPath,
    args: [fileOf("http-upstream.ts"), ...options, "--era", era],
    core: "load",
  });
  await Promise.race([once(owned.child.stdout ?? owned.child, "data"), once(owned.child, "exit")]);
  const port = Number(owned.output().trim());
  if (!(port > 0)) throw new Error(`the upstream did not start: ${owned.output()}`);
  return { kind, toolCount, url: `http://127.0.0.1:${port}/mcp`, port, pid: owned.pid, stop: owned.stop };
}
