/** Which era the gateway takes the servers of the official SDKs for, in every way of setting them up. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openProvider } from "../../src/providers/mcp/fixtures/setup.ts";
import { FakeOut, toolCall } from "../kit/fake-host.ts";
import { startServer } from "./processes.ts";

const PROGRAM = fileURLToPath(new URL("./probed-server.ts", import.meta.url));
const argsOf = (kind: string) => [PROGRAM, "--kind", kind];

/** The methods that a server heard until a call of its one tool was answered. */
async function heardBy(config: object): Promise<string[]> {
  await using setup = await openProvider(config);
  expect(setup.host.status).toBe("ok");
  const out = new FakeOut();
  await setup.provider.run(toolCall("heard"), out);
  const { content } = out.result as { content: [{ text: string }] };
  return JSON.parse(content[0].text);
}

async function heardOverHttp(kind: string): Promise<string[]> {
  const [url, stop] = await startServer([process.execPath, ...argsOf(kind)], /http:\S+/);
  try {
    return await heardBy({ url });
  } finally {
    await stop();
  }
}

const MODERN = ["server/discover", "tools/list", "tools/call"];
const LEGACY = ["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"];

describe("a server is asked for its era once, and used in it", () => {
  test.each([
    ["v2-http", MODERN],
    ["v2-http-reject", MODERN],
    ["v1-http-sessions", LEGACY],
    ["v1-http-stateless", LEGACY],
  ])("over HTTP: %s", async (kind, methods) => {
    expect(await heardOverHttp(kind)).toEqual(methods);
  });

  test.each([
    ["v1-stdio", LEGACY],
    ["v2-stdio-by-hand", LEGACY],
    ["v2-stdio", MODERN],
    ["v2-stdio-reject", MODERN],
  ])("over stdio, on one pipe: %s", async (kind, methods) => {
    expect(await heardBy({ command: process.execPath, args: argsOf(kind) })).toEqual(methods);
  });
});
