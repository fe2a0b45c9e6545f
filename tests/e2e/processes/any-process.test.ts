import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { post, toolCall } from "../kit/rpc.ts";
import { Client, saidIn } from "./client.ts";
import { browserTable, newMark, SHORT_LEASE_MS, startCluster, type TestCluster } from "./cluster.ts";

const ASKABLE = { elicitation: {} };
const MODES = ["per-client", "shared"] as const;
const MARKS = { "per-client": newMark(), shared: newMark() };
let cluster: TestCluster;

beforeAll(async () => {
  const servers = MODES.map((mode) => browserTable(mode, MARKS[mode], `sessions = "${mode}"`));
  cluster = await startCluster({ servers: servers.join(""), leaseMs: SHORT_LEASE_MS });
}, 60_000);

afterAll(() => cluster?.[Symbol.asyncDispose]());

describe.each(MODES)("a session on a server with sessions = %j", (mode) => {
  test("is served alike by each process, every request on a new connection [AP-086] [AP-089]", async () => {
    const client = await Client.open(cluster.url(0));
    const pids = new Set<number>();
    const before = saidIn(await client.call(cluster.url(0), `${mode}.look`)).tabs;
    for (let index = 0; index < 9; index++) {
      const { pid, tabs } = saidIn(await client.call(cluster.url(index % 3), `${mode}.open`, { url: `page ${index}` }));
      pids.add(pid);
      expect(tabs).toEqual([...before, ...Array.from({ length: index + 1 }, (_, at) => `page ${at}`)]);
    }
    expect(pids.size).toBe(1);
    const ended = await client.close(cluster.url(2));
    expect(ended.status).toBe(200);
    for (const index of [0, 1, 2]) expect((await client.call(cluster.url(index), `${mode}.look`)).status).toBe(404);
  });

  test("picks up the stream of a call at another process, from where it broke off, nothing twice", async () => {
    const client = await Client.open(cluster.url(1));
    const stream = await client.stream(cluster.url(2), `${mode}.download`, { steps: 6, ms: 200 });
    await stream.message(({ params }) => params?.progress === 2);
    const lastId = stream.lastId as string;
    const seen = stream.messages.length;
    stream.cut();
    using back = await client.listen(cluster.url(0), lastId);
    const answer = await back.message(({ result }) => result !== undefined);
    expect(saidIn({ status: back.status, text: "", message: answer })).toMatchObject({ steps: 6 });
    const steps = [...stream.messages.slice(0, seen), ...back.messages].flatMap(({ params }) => params?.progress ?? []);
    expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("hears of changes on a stream at one process that were made through another", async () => {
    const client = await Client.open(cluster.url(0));
    const subscribed = await client.request(cluster.url(1), "resources/subscribe", {
      uri: await pageOf(client, mode),
    });
    expect(subscribed.message).toMatchObject({ result: {} });
    using stream = await client.listen(cluster.url(2));
    await client.call(cluster.url(0), `${mode}.open`, { url: "news" });
    await stream.message(({ method }) => method === "notifications/resources/updated");
    const lastId = stream.lastId as string;
    stream.cut();
    // The same stream goes on at another process.
    using back = await client.listen(cluster.url(1), lastId);
    await client.call(cluster.url(2), `${mode}.open`, { url: "more news" });
    await back.message(({ method }) => method === "notifications/resources/updated");
    expect(back.messages).toHaveLength(1);
  });
});

test("a question that was asked through one process is answered through another", async () => {
  const client = await Client.open(cluster.url(0), { capabilities: ASKABLE });
  using stream = await client.stream(cluster.url(1), "per-client.confirm");
  const { id } = await stream.message(({ method }) => method === "elicitation/create");
  const result = { action: "accept", content: { word: "yes" } };
  expect((await client.post(cluster.url(2), { id, result })).status).toBe(202);
  const answer = await stream.message((message) => message.result !== undefined);
  expect(saidIn({ status: 200, text: "", message: answer }).said).toMatchObject(result);
});

test("a session of one catalog is unknown in another, at each process", async () => {
  const client = await Client.open(cluster.url(0, "shared"));
  for (const index of [0, 1, 2]) {
    expect(saidIn(await client.call(cluster.url(index, "shared"), "look")).pid).toBeGreaterThan(0);
    expect((await client.call(cluster.url(index, "per-client"), "look")).status).toBe(404);
    expect((await client.call(cluster.url(index), "shared.look")).status).toBe(404);
  }
});

test("a request without a session is served by each process and leaves nothing [AP-087]", async () => {
  await using store = openStore(cluster);
  const sessions = () => store.keys("session:");
  const before = await sessions();
  for (const index of [0, 1, 2]) {
    const { status, headers, messages } = await post(cluster.url(index), toolCall(index, "shared.look", {}));
    expect(status).toBe(200);
    expect(messages.at(-1)).toMatchObject({ id: index, result: { content: [{ type: "text" }] } });
    expect(headers.get("mcp-session-id")).toBeNull();
  }
  expect(await sessions()).toEqual(before);
});

test("the shared store has a session with its owner, its outbox and the answers of named calls [AP-104] [AP-552] [AP-553] [AP-554]", async () => {
  await using store = openStore(cluster);
  const client = await Client.open(cluster.url(1));
  const owner = await store.ownerOf(client.sessionId);
  expect(await store.members()).toContain(owner);
  await client.call(cluster.url(0), "shared.look");
  expect(await store.ownerOf(client.sessionId)).toBe(owner);
  await client.request(cluster.url(0), "resources/subscribe", { uri: await pageOf(client, "shared") });
  // Nobody listens, so what the server tells is kept for the client.
  const key = `key-${client.sessionId}`;
  await client.call(cluster.url(2), "shared.open", { url: "kept" }, { "idempotency-key": key });
  const kept = await eventually(
    () => store.keys(`outbox:${client.sessionId}`),
    (keys) => keys.length > 0,
  );
  expect(kept.length).toBeGreaterThan(0);
  expect(await store.keys(`once:*${key}`)).toHaveLength(1);
  await client.close(cluster.url(2));
  expect(await store.ownerOf(client.sessionId)).toBeNull();
});

test("a session whose process is gone is served by the one that is asked next, with its subscriptions [AP-105] [AP-120]", async () => {
  const client = await Client.open(cluster.url(2));
  await client.request(cluster.url(2), "resources/subscribe", { uri: await pageOf(client, "shared") });
  await cluster.fleet.kill(2);
  try {
    const { tabs } = saidIn(await client.call(cluster.url(0), "shared.look"));
    using stream = await client.listen(cluster.url(1));
    await eventually(
      async () => {
        await client.call(cluster.url(0), "shared.open", { url: "after" });
        return stream.messages;
      },
      (messages) => messages.some(({ method }) => method === "notifications/resources/updated"),
    );
    expect(stream.messages.map(({ method }) => method)).toContain("notifications/resources/updated");
    expect(saidIn(await client.call(cluster.url(1), "shared.look")).tabs.length).toBeGreaterThan(tabs.length);
  } finally {
    await cluster.fleet.start(2);
  }
});

async function pageOf(client: Client, mode: (typeof MODES)[number]): Promise<string> {
  const { message } = await client.request(cluster.url(0), "resources/list");
  const resources = message?.result?.resources as { uri: string }[];
  const found = resources.find(({ uri }) => uri.includes(MARKS[mode]));
  if (!found) throw new Error(`no page of ${mode}: ${JSON.stringify(resources)}`);
  return found.uri;
}

/** What Redis has. */
function openStore({ redis }: TestCluster) {
  const connection = new Redis(redis.url);
  const keys = async (pattern: string) => (await connection.keys(`*${pattern}*`)).sort();
  return {
    keys,
    members: async () => (await keys(":member:")).map((key) => key.slice(key.lastIndexOf(":") + 1)),
    ownerOf: (session: string) => connection.hget(`isthmus:entry:session:${session}`, "owner"),
    [Symbol.asyncDispose]: async () => connection.disconnect(),
  };
}
