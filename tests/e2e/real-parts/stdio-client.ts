/** The official SDK's client on the standard input and output of a program it starts. */
import { type ClientPeerV1, type Constructor, type Json, load, type Transport } from "../../eras/sdk.ts";
import type { RealClient } from "./part.ts";

export type Started = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** `args` are those of Node. */
export async function connectStdio({ args, env }: Started): Promise<RealClient> {
  const { Client } = await load<{ Client: Constructor<[Json, Json], ClientPeerV1> }>("sdk/dist/esm/client/index.js");
  const { StdioClientTransport } = await load<{ StdioClientTransport: Constructor<[Json], Transport> }>(
    "sdk/dist/esm/client/stdio.js",
  );
  const client = new Client({ name: "real-parts", version: "1" }, { capabilities: {} });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  const options = { timeout: 20_000 };
  return {
    list: async () => (await client.listTools(undefined, options)).tools,
    call: (name, args) => client.callTool({ name, arguments: args }, undefined, options),
    close: () => client.close(),
  };
}
