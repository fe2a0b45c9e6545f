import { describe, expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { Program } from "./kit/program.ts";
import { openSession, post, StdioClient, toolCall } from "./kit/rpc.ts";

const greeting = { content: [{ type: "text", text: "Hello, Ada!" }] };

describe("isthmus up", () => {
  test("lists the tools of every server under its prefix", async () => {
    await using gateway = await startGateway({ config: helloServer("one") + helloServer("two") });
    expect(gateway.servers).toEqual([
      { id: "one", status: "ok", tools: 3 },
      { id: "two", status: "ok", tools: 3 },
    ]);
    const session = await openSession(gateway.url);
    const { messages } = await post(gateway.url, { id: 1, method: "tools/list" }, session);
    const tools = messages[0]?.result?.tools as { name: string }[];
    expect(tools.map(({ name }) => name)).toEqual([
      "one.greet",
      "one.add",
      "one.count",
      "two.greet",
      "two.add",
      "two.count",
    ]);
  });

  test("answers a call, with and without a session", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const call = toolCall(7, "hello.greet", { name: "Ada" });
    expect((await post(gateway.url, call)).messages).toEqual([{ jsonrpc: "2.0", id: 7, result: greeting }]);
    const session = await openSession(gateway.url);
    expect((await post(gateway.url, call, session)).messages).toEqual([{ jsonrpc: "2.0", id: 7, result: greeting }]);
  });

  test("serves each server alone, under its own names", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const { messages } = await post(`${gateway.origin}/hello/mcp`, toolCall(1, "greet", { name: "Ada" }));
    expect(messages[0]?.result).toEqual(greeting);
  });

  test("passes progress on while a call runs", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const session = await openSession(gateway.url);
    const call = toolCall(1, "hello.count", { to: 3 }, { progressToken: "p" });
    const { messages } = await post(gateway.url, call, session);
    const progress = messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);
    expect(progress).toEqual([1, 2, 3].map((step) => ({ progressToken: "p", progress: step, total: 3 })));
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "Counted to 3." }] } });
  });

  test("goes on without a server that cannot be started, and says so", async () => {
    await using gateway = await startGateway({
      config: `${helloServer()}[[servers]]\nid = "gone"\ncommand = "/no/such/program"\n`,
    });
    expect(gateway.servers[1]).toMatchObject({ id: "gone", status: "unreachable", tools: 0 });
    const { messages } = await post(gateway.url, toolCall(1, "hello.add", { a: 2, b: 3 }));
    expect(messages[0]?.result).toEqual({ content: [{ type: "text", text: "5" }] });
  });

  test("writes one log line per finished call, without its arguments", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    await post(gateway.url, toolCall(1, "hello.greet", { name: "Ada-who-is-secret" }));
    await gateway.stop();
    const lines = gateway.program.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const finished = lines.filter(({ message }) => message === "call finished");
    expect(finished).toMatchObject([{ target: "hello/greet", principal: "local", front: "mcp", code: "ok" }]);
    expect(gateway.program.stderr).not.toContain("Ada-who-is-secret");
  });
});

describe("isthmus stdio", () => {
  test("serves one client on standard input and output, and ends with it", async () => {
    await using program = new Program(["stdio"], { config: helloServer() });
    const client = new StdioClient(program);
    expect(await client.open()).toMatchObject({ result: { serverInfo: { name: "isthmus" } } });
    expect(await client.ask(toolCall(1, "hello.greet", { name: "Ada" }))).toMatchObject({ id: 1, result: greeting });
    await client.ask(toolCall(2, "hello.count", { to: 2 }, { progressToken: 9 }));
    const progress = client.heard.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => params?.progress)).toEqual([1, 2]);
    program.child.stdin.end();
    expect(await program.exited).toBe(0);
  });

  test("serves one catalog under its own names", async () => {
    await using program = new Program(["stdio", "--catalog", "two"], {
      config: helloServer("one") + helloServer("two"),
    });
    const client = new StdioClient(program);
    await client.open();
    const { result } = await client.ask({ id: 1, method: "tools/list" });
    expect(result?.tools).toMatchObject([{ name: "greet" }, { name: "add" }, { name: "count" }]);
  });
});
