/** Real clients of the 2025 era, none of which is told how to come back when its stream breaks. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  type ClientPeerV1,
  type ClientPeerV2,
  type Constructor,
  type Json,
  load,
  type Transport,
} from "../../eras/sdk.ts";
import { pathOf } from "../../needs/need.ts";
import { pythonSdk } from "../../needs/programs.ts";
import { partPath } from "../real-parts/part.ts";

export type ResumingClient = {
  /** Resolves with the text of the result. */
  call(name: string, onProgress: (progress: number) => void): Promise<string>;
  close(): Promise<void>;
};

type Connect = (url: string) => Promise<ResumingClient>;

const INFO = { name: "resuming", version: "1" };
const TIMEOUT = { timeout: 30_000 };
const PYTHON_PROGRAM = join(import.meta.dirname, "resuming_client.py");

const textOf = (result: Json): string => (result.content as { text: string }[])[0]?.text ?? "";
const optionsFor = (onProgress: (progress: number) => void) => ({
  ...TIMEOUT,
  onprogress: ({ progress }: Json) => onProgress(progress as number),
});

async function connectV1(transport: Transport): Promise<ResumingClient> {
  const { Client } = await load<{ Client: Constructor<[Json, Json], ClientPeerV1> }>("sdk/dist/esm/client/index.js");
  const client = new Client(INFO, { capabilities: {} });
  await client.connect(transport);
  return {
    call: async (name, onProgress) => textOf(await client.callTool({ name }, undefined, optionsFor(onProgress))),
    close: () => client.close(),
  };
}

const connectSdkV1: Connect = async (url) => {
  const { StreamableHTTPClientTransport } = await load<{
    StreamableHTTPClientTransport: Constructor<[URL], Transport>;
  }>("sdk/dist/esm/client/streamableHttp.js");
  return connectV1(new StreamableHTTPClientTransport(new URL(url)));
};

const connectSdkV2: Connect = async (url) => {
  const { Client, StreamableHTTPClientTransport } = await load<{
    Client: Constructor<[Json, Json], ClientPeerV2>;
    StreamableHTTPClientTransport: Constructor<[URL], Transport>;
  }>("client/dist/index.mjs");
  const client = new Client(INFO, { versionNegotiation: { mode: "legacy" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    call: async (name, onProgress) => textOf(await client.callTool({ name }, optionsFor(onProgress))),
    close: () => client.close(),
  };
};

/** It stands between a client on pipes and the gateway. */
const connectMcpRemote: Connect = async (url) => {
  const { StdioClientTransport } = await load<{ StdioClientTransport: Constructor<[Json], Transport> }>(
    "sdk/dist/esm/client/stdio.js",
  );
  const home = mkdtempSync(join(tmpdir(), "isthmus-remote-"));
  const args = [partPath("mcp-remote/dist/proxy.js"), url, "--allow-http", "--transport", "http-only"];
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const client = await connectV1(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return {
    call: client.call,
    async close() {
      await client.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

/** Prints a line for each progress, and one for the result. */
const connectPython: Connect = async (url) => {
  const child = spawn(pathOf(pythonSdk), [PYTHON_PROGRAM, url], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(name, onProgress) {
      child.stdin.write(`${name}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error("the Python client ended");
        const { progress, text } = JSON.parse(value) as { progress?: number; text?: string };
        if (progress === undefined) return text ?? "";
        onProgress(progress);
      }
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
};

/**
 * `forgets`: when the stream breaks off to which it came back, it asks again from where the first one broke off, and so gets
 * some of it twice. The answer is the same. `hurries`: it drops a progress that it reads together with the answer.
 */
type ClientKind = { readonly connect: Connect; readonly forgets?: boolean; readonly hurries?: boolean };
export const CLIENTS: Readonly<Record<string, ClientKind>> = {
  "TypeScript SDK 1": { connect: connectSdkV1 },
  "TypeScript SDK 2": { connect: connectSdkV2 },
  "Python SDK": { connect: connectPython, forgets: true },
  "mcp-remote": { connect: connectMcpRemote, hurries: true },
};
