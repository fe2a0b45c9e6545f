import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { Program, ROOT } from "./kit/program.ts";
import { openSession, post, StdioClient, toolCall } from "./kit/rpc.ts";

function notesServer(id: string, more = ""): string {
  const args = [join(ROOT, "tests/e2e/kit/notes-server.mjs"), id].map((arg) => JSON.stringify(arg));
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${args}]\n${more}\n`;
}

const two = notesServer("one") + notesServer("two");

/** What a client may do in one session. */
async function asker(url: string) {
  const session = await openSession(url);
  return async (method: string, params: object = {}) => {
    const { messages } = await post(url, { id: 1, method, params }, session);
    return messages.at(-1) ?? {};
  };
}

function listOf<Entry>(member: unknown): Entry[] {
  expect(member).toBeInstanceOf(Array);
  return member as Entry[];
}

describe("two servers with the same URIs", () => {
  test("are told apart in lists, reads and completions", async () => {
    await using gateway = await startGateway({ config: two });
    const ask = await asker(gateway.url);
    const { result } = await ask("resources/list");
    expect(listOf<{ uri: string }>(result?.resources).map(({ uri }) => uri)).toEqual([
      "note://today",
      "ui://notes/app",
      "note://only/one",
      "two+note://today",
      "two+ui://notes/app",
      "note://only/two",
    ]);
    const templates = await ask("resources/templates/list");
    expect(templates.result?.resourceTemplates).toEqual([
      { uriTemplate: "note://by-day/{day}", name: "by day" },
      { uriTemplate: "two+note://by-day/{day}", name: "by day" },
    ]);
    for (const [uri, text] of [
      ["note://today", "note://today of one"],
      ["two+note://today", "note://today of two"],
      ["two+ui://notes/app", "ui://notes/app of two"],
      ["note://by-day/fri", "note://by-day/fri of one"],
      ["two+note://by-day/fri", "note://by-day/fri of two"],
      ["note://only/two", "note://only/two of two"],
    ] as const) {
      const { result: found } = await ask("resources/read", { uri });
      expect(found?.contents).toEqual([{ uri, mimeType: "text/plain", text }]);
    }
    expect(await ask("resources/read", { uri: "three+note://today" })).toMatchObject({ error: { code: -32002 } });
    const argument = { name: "day", value: "" };
    const completed = await ask("completion/complete", {
      ref: { type: "ref/resource", uri: "two+note://by-day/{day}" },
      argument,
    });
    expect(completed.result).toEqual({ completion: { values: ["note://by-day/{day} of two"] } });
  });

  test("are told apart inside what the later one answers, and only there", async () => {
    await using gateway = await startGateway({ config: two });
    const ask = await asker(gateway.url);
    const answerOf = (prefix: string, owner: string) => ({
      content: [
        { type: "resource_link", uri: `${prefix}note://today`, name: "today" },
        { type: "resource", resource: { uri: `${prefix}note://by-day/mon`, text: "note://today" } },
        { type: "text", text: "note://today" },
      ],
      structuredContent: { uri: "note://today", owner },
      _meta: { ui: { resourceUri: `${prefix}ui://notes/app` } },
    });
    const call = (name: string) => ask("tools/call", { name, arguments: {} });
    expect((await call("one.show")).result).toEqual(answerOf("", "one"));
    expect((await call("two.show")).result).toEqual(answerOf("two+", "two"));
    const prompt = await ask("prompts/get", { name: "two.review" });
    expect(prompt.result).toMatchObject({ messages: [{ content: { uri: "two+note://today" } }] });
    const { result } = await ask("tools/list");
    const links = listOf<{ _meta: object }>(result?.tools).map(({ _meta }) => _meta);
    const linkTo = (uri: string) => ({ ui: { resourceUri: uri }, "ui/resourceUri": uri });
    expect(links[0]).toEqual(linkTo("ui://notes/app"));
    expect(links[3]).toEqual(linkTo("two+ui://notes/app"));
  });

  test("tell of updates under the URIs that the client knows", async () => {
    await using program = new Program(["stdio"], { config: two });
    const client = new StdioClient(program);
    await client.open();
    await client.ask({ id: 1, method: "resources/subscribe", params: { uri: "two+note://today" } });
    await client.ask(toolCall(2, "one.touch", {}));
    await client.ask(toolCall(3, "two.touch", {}));
    await client.ask({ id: 4, method: "ping" });
    expect(client.heard.filter(({ method }) => method === "notifications/resources/updated")).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "two+note://today" } },
    ]);
  });

  test("pass as they are where one has no prefix, wherever it stands in the file", async () => {
    await using gateway = await startGateway({ config: notesServer("one") + notesServer("two", 'prefix = ""') });
    const ask = await asker(gateway.url);
    const { result } = await ask("tools/call", { name: "show", arguments: {} });
    expect(result).toMatchObject({ content: [{ uri: "note://today" }, {}, {}], structuredContent: { owner: "two" } });
    const read = await ask("resources/read", { uri: "note://today" });
    expect(read.result).toMatchObject({ contents: [{ text: "note://today of two" }] });
    const other = await ask("resources/read", { uri: "one+note://today" });
    expect(other.result).toMatchObject({ contents: [{ uri: "one+note://today", text: "note://today of one" }] });
  });
});

describe("a named catalog", () => {
  const ops = `[[catalogs]]
id = "ops"
include = ["one.*", "hello.greet"]
exclude = ["*.drop"]
rename = { "hello.greet" = "welcome" }
descriptions = { "hello.greet" = "Says hello." }
instructions = "For the people on call."
`;

  test("lists and serves what it includes, and answers for the rest as if it were not there", async () => {
    await using gateway = await startGateway({ config: two + helloServer() + ops });
    const ask = await asker(`${gateway.origin}/ops/mcp`);
    const { result } = await ask("tools/list");
    const tools = listOf<{ name: string; description?: string }>(result?.tools);
    expect(tools.map(({ name }) => name)).toEqual(["one.show", "one.touch", "welcome"]);
    expect(tools[2]?.description).toBe("Says hello.");
    expect((await ask("tools/call", { name: "welcome", arguments: { name: "Ada" } })).result).toEqual({
      content: [{ type: "text", text: "Hello, Ada!" }],
    });
    const unknown = (await ask("tools/call", { name: "no.such", arguments: {} })).error;
    for (const name of ["one.drop", "two.show", "hello.greet", "hello.add"]) {
      const { error } = await ask("tools/call", { name, arguments: {} });
      expect(error).toEqual({ ...unknown, message: `Unknown tool: ${name}` });
    }
    const read = await ask("resources/read", { uri: "note://only/two" });
    expect(JSON.stringify(read)).not.toContain("of two");
  });

  test("passes no method on that the gateway does not know, though one server stands behind it", async () => {
    const solo = '[[catalogs]]\nid = "solo"\ninclude = ["one.show"]\n';
    await using gateway = await startGateway({ config: two + solo });
    const whole = await asker(`${gateway.origin}/one/mcp`);
    expect(await whole("notes/secret")).toMatchObject({ error: { message: "no such method" } });
    const part = await asker(`${gateway.origin}/solo/mcp`);
    expect(await part("notes/secret")).toMatchObject({ error: { message: "Method not found: notes/secret" } });
  });

  test("introduces itself in the operator's words, and can be served on standard input and output", async () => {
    await using program = new Program(["stdio", "--catalog", "ops"], { config: two + helloServer() + ops });
    const client = new StdioClient(program);
    expect(await client.open()).toMatchObject({ result: { instructions: "For the people on call." } });
    expect(await client.ask(toolCall(1, "welcome", { name: "Ada" }))).toMatchObject({ result: { content: [{}] } });
  });
});

describe("underscore naming", () => {
  test("serves every tool and prompt under a name that model APIs take", async () => {
    const long = "l".repeat(60);
    const config = `[gateway]\nnaming = "underscore"\n${notesServer("one")}${notesServer("two", `prefix = "${long}"`)}`;
    await using gateway = await startGateway({ config });
    const ask = await asker(gateway.url);
    const { result } = await ask("tools/list");
    const names = listOf<{ name: string }>(result?.tools).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(["one__show", "one__touch", "one__drop"]);
    for (const name of names) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      const called = await ask("tools/call", { name, arguments: {} });
      const owner = name.startsWith("one__") ? "one" : "two";
      expect(called.result).toMatchObject({ structuredContent: { owner } });
    }
    expect((await ask("prompts/get", { name: "one__review" })).result).toMatchObject({ messages: [{}] });
  });
});
