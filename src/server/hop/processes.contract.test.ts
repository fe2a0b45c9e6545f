/** What only processes can show: one that is killed, and one that is stopped and goes on. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import type { Member } from "../../contract/index.ts";
import { GET, post, RawClient, until } from "../http/fixtures/raw-client.ts";
import { ask, hopRig } from "./fixtures/hop-rig.ts";

const PROGRAM = fileURLToPath(new URL("./fixtures/member-process.ts", import.meta.url));

type Facts = { port: number; upstreamPort: number; hopPort: number; id: string };

class MemberProcess {
  readonly words: Record<string, unknown>[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #wake: () => void = () => {};

  constructor(...args: string[]) {
    this.#child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface(this.#child.stdout).on("line", (line) => {
      this.words.push(JSON.parse(line));
      this.#wake();
    });
  }

  /** The first of its words, after those before `from`, that has this. */
  async hear(key: string, from = 0): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.words.slice(from).find((word) => key in word);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async facts(): Promise<Facts> {
    return (await this.hear("hopPort")) as Facts;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  async [Symbol.asyncDispose]() {
    await this.kill();
  }
}

function request(url: string): string {
  return GET.replace("/x", url);
}

async function talk(port: number, url: string, until: (client: RawClient) => boolean): Promise<RawClient> {
  const client = new RawClient(port);
  client.write(request(url));
  await client.until(until);
  return client;
}

const LEASE = 1_500;

/**
 * Stops a process for longer than its lease, while clients wait and the world goes on talking to it. It is stopped in the
 * midst of what it has read, with more to come before any timer fires: made sure by what keeps it busy.
 */
async function stopAndGoOn(...args: string[]) {
  const member = new MemberProcess(String(LEASE), ...args);
  const { port, upstreamPort, id } = await member.facts();
  const stream = await talk(port, "/stream", ({ text }) => text.endsWith("hello\r\n"));
  const call = new RawClient(port);
  call.write(request("/call"));
  await until(() => member.words.some(({ got }) => got === "/call"), 1e6);
  const idle = await talk(port, "/id", ({ text }) => text.endsWith(id));
  const [upstream, first, second] = [1, 2, 3].map(() => new RawClient(upstreamPort)) as [
    RawClient,
    RawClient,
    RawClient,
  ];
  await until(() => member.words.filter((word) => "accepted" in word).length === 3, 1e6);
  const clients = [stream, call, idle];
  const before = clients.map(({ text }) => text);
  const heard = member.words.length;

  first.write("busy 300");
  await member.hear("busy", heard);
  second.write("busy 2000");
  await new Promise((resolve) => setImmediate(resolve));
  upstream.write("zombie");
  await until(() => member.words.some(({ busy }) => busy === 2000), 1e6);
  member.signal("SIGSTOP");
  await sleep(2 * LEASE); // no event can be waited for: the lease ends in a process that stands still
  idle.write(request("/id"));
  member.signal("SIGCONT");
  const everybody = [...clients, upstream, first, second];
  return { member, port, id, clients, before, heard, upstream, everybody };
}

describe("a process that was stopped for longer than its lease", () => {
  test("writes not one byte to those who waited, and serves again under another id", async () => {
    const { member, port, id, clients, before, heard, upstream, everybody } = await stopAndGoOn();
    await using _ = member;
    for (const client of clients) await client.all();
    expect(clients.map(({ text }) => text)).toEqual(before);
    const { joined } = await member.hear("joined", heard);
    expect(joined).not.toBe(id);
    const again = await ask(port, request("/id"));
    expect(again).toMatchObject({ status: 200, body: joined });
    const stream = await talk(port, "/stream", ({ text }) => text.endsWith("hello\r\n"));
    upstream.write("alive");
    await stream.until(({ text }) => text.includes("alive"));
    for (const client of [...everybody, stream]) client.socket.destroy();
  }, 20_000);

  test("would write, if it did not ask: what has come is read before any timer fires", async () => {
    const { member, clients, everybody } = await stopAndGoOn("heedless");
    await using _ = member;
    const [stream, call] = clients as [RawClient, RawClient];
    await call.until(({ text }) => text.endsWith("zombie"));
    await stream.until(({ text }) => text.includes("zombie"));
    for (const client of everybody) client.socket.destroy();
  }, 20_000);
});

describe("a home in Redis", () => {
  let redis: TestServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  test.each<[string, NodeJS.Signals]>([
    ["is killed", "SIGKILL"],
    ["is stopped", "SIGSTOP"],
  ])(
    "moves to the other process when its own %s, and not before",
    async (_what, signal) => {
      await using first = new MemberProcess(String(LEASE), "", redis.url);
      expect(await first.hear("home")).toEqual({ home: "mine" });
      await using second = new MemberProcess(String(LEASE), "", redis.url);
      const { id, hopPort } = await first.facts();
      expect(await second.hear("home")).toEqual({ home: { elsewhere: { id, address: `127.0.0.1:${hopPort}` } } });
      const heard = first.words.length;
      first.signal(signal);
      await until(() => second.words.at(-1)?.home === "mine", 1e9);
      if (signal === "SIGKILL") return;
      first.signal("SIGCONT");
      await first.hear("joined", heard);
      const { id: winner, hopPort: door } = await second.facts();
      const elsewhere = { home: { elsewhere: { id: winner, address: `127.0.0.1:${door}` } } };
      await until(() => first.words.some((word) => JSON.stringify(word) === JSON.stringify(elsewhere)), 1e9);
      const homes = first.words.slice(heard).filter((word) => "home" in word);
      expect(homes).toEqual([{ home: "nobody" }, elsewhere]);
      expect(second.words.at(-1)).toEqual({ home: "mine" });
    },
    30_000,
  );
});

describe("a home that is killed", () => {
  async function edgeBefore(member: MemberProcess) {
    const rig = hopRig();
    const { hopPort, id } = await member.facts();
    const edge = await rig.start();
    const home: Member = { id, address: `127.0.0.1:${hopPort}` };
    await rig.state.members.join(home, 1e9);
    edge.to = home;
    return Object.assign(rig, { edge });
  }
  const lost = (wasSent: boolean) => ({ status: 502, body: JSON.stringify({ type: "lost", wasSent }) });

  test("before the request was lost before it was sent", async () => {
    await using member = new MemberProcess("60000");
    await using rig = await edgeBefore(member);
    await member.kill();
    expect(await ask(rig.edge.port, post("x"))).toMatchObject(lost(false));
  });

  test("between two requests is noticed, and nothing of the second was sent", async () => {
    await using member = new MemberProcess("60000");
    await using rig = await edgeBefore(member);
    expect((await ask(rig.edge.port, request("/id"))).status).toBe(200);
    rig.time.advance(2_000);
    await member.kill();
    expect(await ask(rig.edge.port, post("x"))).toMatchObject(lost(false));
  });

  test("while the request is there was lost after it was sent", async () => {
    await using member = new MemberProcess("60000");
    await using rig = await edgeBefore(member);
    const answer = ask(rig.edge.port, post("x"));
    await member.hear("got");
    await member.kill();
    expect(await answer).toMatchObject(lost(true));
  });

  test("in the middle of a stream breaks it off at the client", async () => {
    await using member = new MemberProcess("60000");
    await using rig = await edgeBefore(member);
    const stream = await talk(rig.edge.port, "/stream", ({ text }) => text.endsWith("hello\r\n"));
    await member.kill();
    await stream.all();
    expect(stream.text.endsWith("hello\r\n")).toBe(true);
    stream.socket.destroy();
    await until(() => rig.edge.ends.length === 1);
    expect(rig.edge.ends).toEqual([{ type: "lost", wasSent: true }]);
  });

  test("after its answer has answered", async () => {
    await using member = new MemberProcess("60000");
    await using rig = await edgeBefore(member);
    const { id } = await member.facts();
    const answer = await ask(rig.edge.port, request("/id"));
    await member.kill();
    expect(answer).toMatchObject({ status: 200, body: id });
    expect(rig.edge.ends).toEqual([{ type: "answered" }]);
  });
});
