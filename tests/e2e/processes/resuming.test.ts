import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import { eventually } from "../../kit/eventually.ts";
import { startCluster, type TestCluster } from "./cluster.ts";
import { CutProxy } from "./cut-proxy.ts";
import { CLIENTS } from "./resuming-clients.ts";

const calls: UpstreamCall[] = [];
let upstream: McpUpstream;
let cluster: TestCluster;

beforeAll(async () => {
  upstream = await McpUpstream.start({ tools: ["work"], onCall: (call) => void calls.push(call) });
  cluster = await startCluster({ servers: upstream.table("up") });
}, 60_000);

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await upstream?.close();
});

describe.each(Object.entries(CLIENTS))("%s", (_name, { connect, forgets, hurries }) => {
  test("comes back by itself when its stream breaks, each time at another process, and misses nothing [AP-116]", {
    timeout: 60_000,
  }, async () => {
    await using proxy = await CutProxy.start(cluster.fleet.ports);
    const client = await connect(proxy.url);
    calls.length = 0;
    const seen: number[] = [];
    const until = (count: number) =>
      eventually(
        () => seen.length,
        (length) => length >= count,
      );
    const answer = client.call("up.work", (progress) => seen.push(progress));
    await eventually(
      () => calls.length,
      (length) => length > 0,
    );
    const [call] = calls as [UpstreamCall];
    call.progress(1);
    await until(1);
    proxy.cut();
    // Said while nobody listens.
    call.progress(2);
    call.progress(3);
    await until(3);
    expect(seen).toEqual([1, 2, 3]);
    proxy.cut();
    call.progress(4);
    if (hurries === true) await until(4);
    call.answerText("done");
    expect(await answer).toBe("done");
    expect(seen).toEqual(forgets === true ? [1, 2, 3, 2, 3, 4] : [1, 2, 3, 4]);
    expect(calls).toHaveLength(1);
    expect(new Set(proxy.returns.map(({ gateway }) => gateway))).toEqual(new Set([1, 2]));
    await client.close();
  });
});
