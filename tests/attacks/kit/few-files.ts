/** A gateway that may open few files, to see what becomes of the others when somebody takes them. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../../e2e/identity/workspace.ts";
import { ROOT } from "../../e2e/kit/program.ts";
import { post, toolCall } from "../../e2e/kit/rpc.ts";

export const DIRECT = `${process.execPath} dist/isthmus.js up`;

export type WithFewFiles = AsyncDisposable & { readonly port: number; readonly child: ChildProcess; log(): string };

/** `command`: how it is started; what stands in it is our own. */
export async function startWithFewFiles(command: string, limit: number, config: string): Promise<WithFewFiles> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-files-"));
  const port = await freePort();
  writeFileSync(join(folder, "isthmus.toml"), config);
  const env = {
    PATH: `${join(process.execPath, "..")}:${process.env.PATH}`,
    HOME: folder,
  };
  const rest = `--config ${folder}/isthmus.toml --listen 127.0.0.1:${port} --json`;
  const child = spawn("/bin/sh", ["-c", `ulimit -n ${limit}; exec ${command} ${rest}`], { cwd: ROOT, env });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  const started: WithFewFiles = {
    port,
    child,
    log: () => log,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await new Promise((resolve) => (child.exitCode === null ? child.once("close", resolve) : resolve(undefined)));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await expect.poll(() => log, { timeout: 30_000 }).toMatch(/"servers":/);
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
  return started;
}

/** What a caller gets who comes on a new connection. Its config has the hello server. */
export async function greet({ port }: WithFewFiles): Promise<string> {
  const answer = await post(`http://127.0.0.1:${port}/mcp`, toolCall(1, "hello.greet", { name: "Ann" }), {
    connection: "close",
  });
  return JSON.stringify(answer.messages.at(-1)?.result);
}
