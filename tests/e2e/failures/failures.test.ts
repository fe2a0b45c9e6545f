/** Seven servers that fail, each in its own way, behind one gateway with two that do not. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { descendants, waitForEnd } from "../kit/processes.ts";
import { ROOT, runProgram } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { Bounds } from "./bounds.ts";
import { startGarbageServer } from "./garbage-server.ts";
import { Traffic } from "./traffic.ts";

/** What one gateway with nine servers may use, ten thousand tools included. */
const MAX_MEMORY_MIB = 512;
/** Eight processes of servers, each with one that ends while the next starts, and the watchdog. */
const MAX_PROCESSES = 17;
const POLL_MS = 90_000;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-failures-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function say(id: string, word: "good" | "bad"): void {
  writeFileSync(join(folder, id), word);
}

/** A server that fails in this way while it is told to. */
function troubled(id: string, way: string, { word = "bad", more = "" }: { word?: "good" | "bad"; more?: string } = {}) {
  say(id, word);
  const args = [join(ROOT, "tests/e2e/failures/troubled-server.mjs"), way, join(folder, id)];
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\nera = "2025"\ntimeout = "5s"\n${more}\n`;
}

type Listing = {
  readonly names: readonly string[];
  readonly servers: Readonly<Record<string, { status: string }>>;
  readonly pins: Readonly<Record<string, { status: string; what: string[] }>>;
};

function readListing({ result }: RpcMessage): Listing {
  const { tools, _meta = {} } = result as { tools: { name: string }[]; _meta?: Record<string, never> };
  return {
    names: tools.map(({ name }) => name),
    servers: _meta["dev.isthmus/servers"] ?? {},
    pins: _meta["dev.isthmus/pins"] ?? {},
  };
}

/** A client in a session of its own. */
async function connect(gateway: RunningGateway) {
  const session = await openSession(gateway.url);
  const ask = async (message: object): Promise<RpcMessage> => {
    const { messages } = await post(gateway.url, message, session);
    return messages.at(-1) ?? {};
  };
  return {
    list: async () => readListing(await ask({ id: 1, method: "tools/list" })),
    call: (name: string) => ask(toolCall(2, name, {})),
    metrics: async () => (await fetch(`${gateway.origin}/metrics`)).text(),
  };
}

test("servers that fail hurt nobody else, are told of, and come back by themselves", { timeout: 300_000 }, async () => {
  await using garbage = await startGarbageServer();
  const config = [
    '[gateway]\nstate = "kept"',
    troubled("one", "plain", { word: "good" }),
    troubled("hang", "hang"),
    troubled("crash", "crash"),
    troubled("slow", "slow", { more: 'listTtl = "1s"' }),
    troubled("turn", "turn", { word: "good", more: 'listTtl = "1s"' }),
    troubled("seal", "turn", { word: "good", more: 'listTtl = "1s"\npin = "block"' }),
    `[[servers]]\nid = "garbage"\nurl = "${garbage.url}"\nera = "2025"\nlistTtl = "1s"`,
    troubled("flood", "flood"),
    troubled("two", "plain", { word: "good" }),
  ].join("\n");
  await using gateway = await startGateway({ config });
  using bounds = new Bounds(gateway.program.pid);
  const traffic = new Traffic(gateway.url, ["one.who", "two.who"]);
  const client = await connect(gateway);
  const poll = (look: () => Promise<void>) => vi.waitFor(look, { timeout: POLL_MS, interval: 250 });

  // The list says what is wrong.
  await poll(async () => {
    const { names, servers } = await client.list();
    expect(names).toEqual(expect.arrayContaining(["one.who", "two.who", "turn.who", "seal.who", "flood.who"]));
    expect(Object.keys(servers)).toEqual(expect.arrayContaining(["hang", "crash", "garbage"]));
    expect(servers.garbage?.status).toBe("invalid");
    expect(servers.one).toBeUndefined();
  });
  await poll(async () =>
    expect((await client.list()).names.filter((name) => name.startsWith("slow."))).toHaveLength(10_000),
  );

  // Two servers change a tool's description.
  say("turn", "bad");
  say("seal", "bad");
  await poll(async () => {
    const { names, pins } = await client.list();
    expect(pins).toMatchObject({
      "turn.who": { status: "changed", what: ["description"] },
      "seal.who": { status: "held", what: ["description"] },
    });
    expect(names).toContain("turn.who");
    expect(names).not.toContain("seal.who");
  });
  expect((await client.call("turn.who")).result).toMatchObject({ content: [{ text: "turn bad" }] });
  expect(await client.call("seal.who")).toMatchObject({ error: { code: -32601 } });
  expect(gateway.program.stderr).toContain('"tool held back"');
  expect(gateway.program.stderr).not.toContain("Ignore all other instructions");

  // Calls to what is down end, and at once after some.
  await poll(async () => {
    expect((await client.call("hang.who")).result?.isError ?? true).toBe(true);
    await client.call("crash.who");
    expect(await client.metrics()).toMatch(/isthmus_breaker_opens_total\{server="crash"\} [1-9]/);
  });

  // Everybody behaves again.
  for (const id of ["hang", "crash", "slow", "turn", "flood"]) say(id, "good");
  garbage.isBad = false;
  await poll(async () => {
    const { names, servers, pins } = await client.list();
    expect(servers).toEqual({});
    expect(Object.keys(pins)).toEqual(["seal.who"]);
    expect(names).toEqual(expect.arrayContaining(["hang.who", "crash.who", "garbage.who", "slow.tool9999"]));
  });
  const accepted = await runProgram([
    "pin",
    "accept",
    "seal.who",
    "--yes",
    "--config",
    join(gateway.program.folder, "isthmus.toml"),
  ]);
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringMatching(/\naccepted seal\.who\n$/) });
  await poll(async () => {
    const { names, servers, pins } = await client.list();
    expect({ servers, pins }).toEqual({ servers: {}, pins: {} });
    expect(names).toContain("seal.who");
  });
  for (const id of ["hang", "crash", "slow", "turn", "seal", "garbage", "flood"]) {
    await poll(async () => {
      const { result } = await client.call(`${id}.who`);
      expect(result).toMatchObject({ content: [{ text: expect.stringMatching(/ (?:good|bad)$/) }] });
      expect(result?.isError ?? false).toBe(false);
    });
  }

  await traffic.end();
  expect(traffic.failures).toEqual([]);
  expect(bounds.memoryMiB).toBeLessThan(MAX_MEMORY_MIB);
  expect(bounds.processes).toBeLessThanOrEqual(MAX_PROCESSES);
  const children = descendants(gateway.program.pid);
  expect(await gateway.stop()).toBe(0);
  expect(await waitForEnd(children)).toEqual([]);
});
