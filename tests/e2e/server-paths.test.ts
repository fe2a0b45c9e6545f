import { describe, expect, test } from "vitest";
import { startBalancer } from "../chaos/balancer.ts";
import { EventStream } from "../hostile/kit/event-stream.ts";
import { eventually } from "../kit/eventually.ts";
import { HELLO, Workspace } from "./cli/workspace.ts";
import { echoServer } from "./config/rig.ts";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { ROOT } from "./kit/program.ts";
import { openSession, post, toolCall } from "./kit/rpc.ts";

async function toolsAt(url: string): Promise<string[]> {
  const { messages } = await post(url, { id: 1, method: "tools/list" }, await openSession(url));
  return ((messages.at(-1)?.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
}

describe("the path of a server", () => {
  test("takes POST, and GET for the session's stream [AP-091]", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const url = `${gateway.origin}/hello/mcp`;
    const session = await openSession(url);
    const { status, messages } = await post(url, toolCall(1, "greet", { name: "Ada" }), session);
    expect([status, messages.at(-1)?.result?.content]).toEqual([200, [{ type: "text", text: "Hello, Ada!" }]]);
    using stream = await EventStream.open(url, { method: "GET", headers: session });
    expect(stream.status).toBe(200);
    // A session belongs to the path on which it began.
    expect((await post(gateway.url, toolCall(2, "hello.greet", { name: "Ada" }), session)).status).toBe(404);
  });

  test("is one of many that one process serves, each with tools of its own [AP-157]", async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `server-${index}`);
    const tables = ids.map((id) => echoServer(id, [`only-${id}`]));
    await using gateway = await startGateway({ config: tables.join("") });
    const seen = await Promise.all(ids.map((id) => toolsAt(`${gateway.origin}/${id}/mcp`)));
    ids.forEach((id, index) => {
      const own = seen[index]?.filter((name) => name.startsWith("only-"));
      expect(own).toEqual([`only-${id}`]);
    });
    const everything = await toolsAt(gateway.url);
    for (const id of ids) expect(everything).toContain(`${id}.only-${id}`);
  });

  test("is there as soon as the server is added, behind a proxy that was told of none [AP-092]", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", helloServer("first"));
    const { child } = workspace.start(["up", "--listen", "127.0.0.1:0", "--json"]);
    let printed = "";
    child.stdout.on("data", (text: string) => {
      printed += text;
    });
    await eventually(
      () => printed,
      (text) => text.includes("\n"),
    );
    const balancer = await startBalancer([Number(new URL(JSON.parse(printed).url).port)]);
    try {
      const greet = async (id: string) => {
        const answer = await post(`${balancer.origin}/${id}/mcp`, toolCall(1, "greet", { name: "Ada" }));
        return [answer.status, answer.messages.at(-1)?.result?.content];
      };
      const greeted = [200, [{ type: "text", text: "Hello, Ada!" }]];
      expect(await greet("first")).toEqual(greeted);
      expect((await greet("second"))[0]).toBe(404);
      const added = await workspace.run("add", "second", "--", process.execPath, `${ROOT}/${HELLO}`);
      expect(added.code).toBe(0);
      const first = await eventually(
        () => greet("second"),
        ([status]) => status !== 404,
      );
      expect(first).toEqual(greeted);
    } finally {
      await balancer.stop();
    }
  });
});
