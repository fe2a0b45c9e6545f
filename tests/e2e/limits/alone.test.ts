/** Limits of a gateway that runs alone: counted in the process, and told in the words of each method. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { helloServer, startGateway } from "../kit/gateway.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";

const NOTES = fileURLToPath(new URL("../kit/notes-server.mjs", import.meta.url));
const notesServer = `[[servers]]
id = "notes"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(NOTES)}]
`;

const READ = { id: 5, method: "resources/read", params: { uri: "note://today" } };
const PREFIX = "io.modelcontextprotocol/";
const MODERN_HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "hello.greet" };
const modernGreet = toolCall(
  6,
  "hello.greet",
  { name: "Ada" },
  {
    [`${PREFIX}protocolVersion`]: "2026-07-28",
    [`${PREFIX}clientInfo`]: { name: "e2e", version: "1" },
    [`${PREFIX}clientCapabilities`]: {},
  },
);
const greet = (id: number) => toolCall(id, "hello.greet", { name: "Ada" });

describe.each([
  ["with a database", ""],
  ["that keeps nothing", '[database]\nurl = "memory:"\n'],
])("a gateway alone, %s", (_, database) => {
  test("refuses by a result with isError, and another method by an error, whatever the session [AP-187]", async () => {
    const config = `${helloServer()}${notesServer}${database}
[[limits]]
user = "*"
per = ["user"]
capacity = 3
refill = "1/d"
`;
    await using gateway = await startGateway({ config });
    for (const id of [1, 2, 3]) {
      const session = await openSession(gateway.url);
      const { messages } = await post(gateway.url, greet(id), session);
      expect(messages.at(-1)?.result).toMatchObject({ content: [{ text: "Hello, Ada!" }] });
    }
    const { status, messages } = await post(gateway.url, greet(4), await openSession(gateway.url));
    expect(status).toBe(200);
    expect(messages.at(-1)?.result).toMatchObject({
      isError: true,
      content: [
        { type: "text", text: expect.stringMatching(/^The rate limit of this user is reached\. Try again in/) },
      ],
      _meta: { "dev.isthmus/error": { code: "LIMITED", retry: "later", retryAfterMs: expect.any(Number) } },
    });
    const modern = await post(gateway.url, modernGreet, MODERN_HEADERS);
    expect(modern.messages.at(-1)?.result).toMatchObject({
      isError: true,
      _meta: { "dev.isthmus/error": { code: "LIMITED", retryAfterMs: expect.any(Number) } },
    });
    const got = await post(gateway.url, READ, await openSession(gateway.url));
    expect(got.messages.at(-1)?.error).toMatchObject({
      code: -32603,
      data: { code: "LIMITED", retry: "later", retryAfterMs: expect.any(Number) },
    });
  });
});

test("a limit that is written into the file counts without a restart, and one that is taken out does not any more", async () => {
  const limit = "[[limits]]\nbudget = 1\n";
  await using gateway = await startGateway({ config: helloServer() });
  const isRefused = async () => {
    const { messages } = await post(gateway.url, greet(1));
    return messages.at(-1)?.result?.isError === true;
  };
  expect(await isRefused()).toBe(false);
  writeFileSync(join(gateway.program.folder, "isthmus.toml"), `${helloServer()}${limit}`);
  expect(await eventually(isRefused, (is) => is)).toBe(true);
  writeFileSync(join(gateway.program.folder, "isthmus.toml"), helloServer());
  expect(await eventually(isRefused, (is) => !is)).toBe(false);
});

test("the edge turns away an address that sends too much, with 429 and a time, and never who asks for health [AP-153]", async () => {
  const config = `[gateway.edge]
address = { capacity = 20, refill = "1/h" }
${helloServer()}`;
  await using gateway = await startGateway({ config });
  const statuses: number[] = [];
  let retryAfter: string | null = null;
  for (let index = 0; index < 60; index++) {
    const answer = await fetch(`${gateway.origin}/nothing`);
    await answer.arrayBuffer();
    statuses.push(answer.status);
    if (answer.status === 429) retryAfter = answer.headers.get("retry-after");
  }
  expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(20);
  expect(statuses.at(-1)).toBe(429);
  expect(Number(retryAfter)).toBeGreaterThan(60);
  expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
  expect((await fetch(gateway.url, { method: "POST", body: "{}" })).status).toBe(429);
});

test("each layer keeps back for itself, and a call is taken from the exact one once [AP-188] [AP-058]", async () => {
  const config = `[gateway.edge]
address = { capacity = 60, refill = "1/h" }
[[limits]]
budget = 8
${helloServer()}
concurrency = 1
`;
  await using gateway = await startGateway({ config });
  const answers: string[] = [];
  const send = async (id: number) => {
    const { status, messages } = await post(gateway.url, greet(id));
    answers.push(status === 429 ? "edge" : messages.at(-1)?.result?.isError === true ? "limit" : "made");
  };
  // What waits for the one place at the server is not taken again; what the limit refuses takes no place.
  await Promise.all(Array.from({ length: 5 }, (_, id) => send(id)));
  expect(answers).toEqual(Array(5).fill("made"));
  await Promise.all(Array.from({ length: 80 }, (_, id) => send(id + 5)));
  const count = (what: string) => answers.filter((answer) => answer === what).length;
  expect(count("made")).toBe(8);
  expect(count("limit")).toBeGreaterThan(0);
  expect(count("edge")).toBeGreaterThan(0);
});
