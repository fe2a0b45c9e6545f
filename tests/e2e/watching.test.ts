/** What somebody sees who watches a gateway: metrics by server and tool, and a log that every reader understands. */
import { describe, expect, test } from "vitest";
import { refuseRepeatedKeys } from "../../src/contract/index.ts";
import { HttpFixture, startHttpFixture } from "../../src/providers/mcp/fixtures/http-server.ts";
import { echoServer, Rig } from "./config/rig.ts";
import { parseExposition } from "./kit/exposition.ts";
import { post, toolCall } from "./kit/rpc.ts";

const scrape = async (rig: Rig) => await (await fetch(`${rig.gateway.origin}/metrics`)).text();

async function busy(): Promise<Rig> {
  const tools = Array.from({ length: 70 }, (_, index) => `t${index}`);
  const rig = await Rig.start(
    `${echoServer("a", tools)}${echoServer("b")}[[servers]]\nid = "gone"\ncommand = "no-such"\n`,
  );
  for (const name of tools) await rig.who("a", name);
  await rig.who("b");
  await rig.ask({ id: 3, method: "resources/read", params: { uri: "echo://self" } });
  await rig.ask(toolCall(4, "a.made-up-by-a-caller", {}));
  return rig;
}

describe("/metrics", () => {
  test("is what a scraper reads, named as Prometheus wants it", async () => {
    const rig = await busy();
    await using _gateway = rig.gateway;
    const families = parseExposition(await scrape(rig));
    expect(new Set([...families.values()].map(({ type }) => type))).toEqual(new Set(["counter", "gauge", "histogram"]));
    for (const { name, type, samples } of families.values()) {
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
      if (type === "histogram") expect(name).toMatch(/_seconds$/);
      expect(name).not.toMatch(/_(ms|milliseconds|kb|minutes)(_|$)/);
      for (const { labels } of samples) expect(JSON.stringify(labels)).not.toContain("made-up");
    }
    const up = families.get("isthmus_server_up")?.samples.map(({ labels, value }) => [labels.server, value]);
    expect(up).toEqual([
      ["a", 1],
      ["b", 1],
      ["gone", 0],
    ]);
    for (const name of ["process_cpu_seconds_total", "process_start_time_seconds", "nodejs_eventloop_lag_seconds"]) {
      expect(families.has(name)).toBe(true);
    }
  });

  test("has numbers of 50 tools of a server, of the rest together, and of none when the server is gone", async () => {
    const rig = await busy();
    await using _gateway = rig.gateway;
    const of = (text: string, server: string) =>
      (parseExposition(text).get("isthmus_calls_total")?.samples ?? []).filter(
        ({ labels }) => labels.server === server,
      );
    const calls = of(await scrape(rig), "a").filter(({ labels }) => labels.kind === "tool");
    expect(calls).toHaveLength(51);
    expect(calls.reduce((sum, { value }) => sum + value, 0)).toBe(70);
    expect(calls.find(({ labels }) => labels.tool === "other")?.value).toBe(20);
    rig.replace("isthmus.toml", echoServer("b"));
    await expect.poll(async () => of(await scrape(rig), "a"), { timeout: 20_000 }).toEqual([]);
    const left = await scrape(rig);
    expect(left).not.toContain('server="a"');
    expect(of(left, "b")).not.toEqual([]);
  });

  test("and /readyz say that a server over HTTP is away, and that it is back, without a call in between", async () => {
    const server = await startHttpFixture({}, "s");
    const rig = await Rig.start(`[[servers]]\nid = "web"\nurl = "${server.url}"\n`);
    await using _gateway = rig.gateway;
    const seen = async () => [
      parseExposition(await scrape(rig)).get("isthmus_server_up")?.samples[0]?.value,
      ((await (await fetch(`${rig.gateway.origin}/readyz`)).json()) as { servers: object }).servers,
    ];
    await rig.ask(toolCall(3, "web.echo", {}));
    expect(await seen()).toEqual([1, { web: "ok" }]);
    await server.stop();
    await expect
      .poll(async () => JSON.stringify(await rig.ask(toolCall(4, "web.echo", {}))), { timeout: 10_000 })
      .toContain("PROVIDER_UNREACHABLE");
    await expect.poll(seen, { timeout: 10_000 }).toEqual([0, { web: "unreachable" }]);
    await using _again = await new HttpFixture({}).listen(server.port);
    await expect.poll(seen, { timeout: 20_000 }).toEqual([1, { web: "ok" }]);
  });
});

test.each([
  ["without an audit trail", ""],
  ["with one", "[audit]\n"],
])(
  "a tool that answers that it failed is a tool_error in the log, the metrics and the traces, %s",
  async (_how, audit) => {
    const rig = await Rig.start(`${audit}${echoServer("a", ["fail"])}`);
    await using _gateway = rig.gateway;
    await rig.who("a", "fail");
    await rig.who("a");
    const outcomes = () =>
      rig.gateway.program.stderr
        .split("\n")
        .filter((line) => line.includes('"call finished"') && line.endsWith("}"))
        .map((line) => JSON.parse(line))
        .map(({ target, code }) => [target, code]);
    await expect.poll(outcomes).toEqual([
      ["a/fail", "tool_error"],
      ["a/who", "ok"],
    ]);
    const calls = parseExposition(await scrape(rig)).get("isthmus_calls_total")?.samples ?? [];
    expect(calls.map(({ labels, value }) => [labels.tool, labels.code, value])).toEqual([
      ["fail", "tool_error", 1],
      ["who", "ok", 1],
    ]);
    const traced = (await (await fetch(`${rig.gateway.origin}/api/calls`)).json()) as { calls: { code: string }[] };
    expect(traced.calls.map(({ code }) => code)).toEqual(["ok", "tool_error"]);
  },
);

test("every line of the log is one JSON object with each key once, whatever happens", async () => {
  const config = `[gateway]\nlogLevel = "debug"\n[audit]\n${echoServer("a")}${echoServer("mute", [], 'sessions = "per-client"')}[[servers]]\nid = "gone"\ncommand = "no-such"\n[[servers]]\nid = "dies"\ncommand = "false"\n[[servers]]\nid = "away"\nurl = "http://127.0.0.1:9/mcp"\n`;
  const rig = await Rig.start(config);
  await using _gateway = rig.gateway;
  const { pid } = await rig.who("a");
  process.kill(pid, "SIGKILL");
  for (const name of ["a.who", "mute.who", "gone.x", "dies.x"]) await rig.ask(toolCall(5, name, {}));
  await post(rig.gateway.url, toolCall(6, "a.who", {}), { "mcp-session-id": "guessed" });
  await fetch(`${rig.gateway.origin}/mcp`, { headers: { host: "evil.example" } });
  rig.replace("isthmus.toml", "nonsense");
  await expect.poll(() => rig.gateway.program.stderr, { timeout: 20_000 }).toContain("config refused");
  rig.replace("isthmus.toml", config.replace('id = "dies"', 'id = "dies2"'));
  await expect.poll(() => rig.gateway.program.stderr, { timeout: 20_000 }).toContain("config taken over");
  await rig.gateway.stop();
  const lines = rig.gateway.program.stderr.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({ time: expect.any(String), message: expect.any(String) });
    expect(() => refuseRepeatedKeys(line), line).not.toThrow();
  }
});
