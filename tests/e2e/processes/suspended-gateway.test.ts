import { type ClientRequest, request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { toolCall } from "../kit/rpc.ts";
import { type Answer, Client, saidIn } from "./client.ts";
import { browserTable, newMark, SHORT_LEASE_MS, startCluster, type TestCluster } from "./cluster.ts";

let cluster: TestCluster;

beforeEach(async () => {
  const servers = browserTable("own", newMark(), 'sessions = "per-client"') + browserTable("shared", newMark());
  cluster = await startCluster({ servers, leaseMs: SHORT_LEASE_MS });
}, 60_000);

afterEach(async () => {
  if (cluster) for (const index of [0, 1, 2]) cluster.fleet.signal(index, "SIGCONT");
  await cluster?.[Symbol.asyncDispose]();
});

/** A request whose every byte is counted, as it comes from the socket. */
class Tapped {
  text = "";
  bytes = 0;
  readonly over: Promise<unknown>;
  readonly #sent: ClientRequest;

  constructor(url: string, method: "GET" | "POST", headers: Record<string, string>, message?: object) {
    const body = message && JSON.stringify({ jsonrpc: "2.0", ...message });
    const accept = method === "GET" ? "text/event-stream" : "application/json, text/event-stream";
    this.#sent = request(url, {
      method,
      agent: false,
      headers: { accept, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    });
    this.#sent.on("error", () => undefined);
    this.over = new Promise((resolve) => this.#sent.on("close", resolve));
    this.#sent.on("socket", (socket) => {
      socket.on("data", (chunk: Buffer) => {
        this.bytes += chunk.length;
        this.text += chunk.toString("latin1");
      });
    });
    this.#sent.on("response", (response) => response.on("error", () => undefined).resume());
    this.#sent.end(body);
  }
}

const isServed = ({ status, message }: Answer) => status === 200 && message?.result?.isError !== true;

test("a gateway that stood still longer than its lease says not one byte more to anybody, and serves again [AP-105]", async () => {
  const client = await Client.open(cluster.url(0), { capabilities: { elicitation: {} } });
  saidIn(await client.call(cluster.url(0), "own.open", { url: "before" }));
  const { headers } = client;
  const post = (url: string, id: number, tool: string, args: object) =>
    new Tapped(url, "POST", headers, toolCall(id, tool, args, { progressToken: id }));
  // Straight to the one that will stand still: streams, and answers that are not begun.
  const own = new Tapped(cluster.url(0), "GET", headers);
  const streams = [
    post(cluster.url(0), 901, "own.download", { steps: 8, ms: 250 }),
    post(cluster.url(0), 902, "shared.download", { steps: 8, ms: 250 }),
  ];
  const answers = [
    post(cluster.url(0), 903, "own.look", { ms: 1_200 }),
    post(cluster.url(0), 904, "shared.look", { ms: 1_200 }),
  ];
  // And by way of another, which hands it over.
  const handed = post(cluster.url(1), 905, "own.download", { steps: 8, ms: 250 });
  await eventually(
    () => [...streams, handed].every(({ text }) => text.includes('"progress":1')) && own.bytes > 0,
    Boolean,
  );
  cluster.fleet.signal(0, "SIGSTOP");
  const all = [own, ...streams, ...answers, handed];
  // The others take over: the session is served, with a child of its new home.
  const answer = await eventually(() => client.call(cluster.url(1), "own.look"), isServed, 20_000);
  expect(saidIn(answer).tabs).toEqual([]);
  saidIn(await client.call(cluster.url(2), "own.open", { url: "after" }));
  const before = all.map(({ bytes }) => bytes);
  cluster.fleet.signal(0, "SIGCONT");
  await Promise.all(all.map(({ over }) => over));
  expect(all.map(({ bytes }) => bytes)).toEqual(before);
  for (const { text } of answers) expect(text).toBe("");
  // Whoever comes back for the rest of a stream hears that nobody knows it, and nothing that the old home found out later.
  for (const { text } of [...streams, handed]) {
    using rest = await client.listen(cluster.url(2), [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1]?.trim());
    expect(await rest.message(({ result }) => result !== undefined)).toMatchObject({
      result: { isError: true, _meta: { "dev.isthmus/error": { code: "OUTCOME_UNKNOWN" } } },
    });
  }
  // It serves again: its clients, and sessions that live elsewhere now.
  await cluster.fleet.ready(0);
  const again = await eventually(() => client.call(cluster.url(0), "own.look"), isServed, 20_000);
  expect(saidIn(again).tabs).toEqual(["after"]);
  const fresh = await Client.open(cluster.url(0));
  expect(saidIn(await fresh.call(cluster.url(0), "shared.look")).pid).toBeGreaterThan(0);
}, 60_000);
