/** Filling the memory that everybody's calls need. */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, toolCall } from "../e2e/kit/rpc.ts";
import { kitServer } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { SlowServer } from "./kit/slow-server.ts";
import { type Poured, Pouring } from "./kit/unfinished.ts";

const MIB = 1024 * 1024;
/** So that an attack is over soon: what it sends would be several times that. */
const env = { NODE_OPTIONS: "--max-old-space-size=128" };
const TOTAL = 320 * MIB;

const { publicKey } = generateKeyPairSync("ed25519");
const feed = `[[auth.revocationFeeds]]\nid = "hub"\nkeys = ["""\n${publicKey.export({ type: "spki", format: "pem" })}"""]\n`;
const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());
const slowServer = (id: string, more = "") =>
  `[[servers]]\nid = "${id}"\nurl = ${JSON.stringify(slow.url)}\nera = "2025"\n${more}\n`;

const access = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n`;
const tokens = {
  ann: ["--user", "ann"],
  mallory: ["--user", "mallory"],
  ops: ["--user", "ops", "--role", "viewer"],
};

async function greet(field: Attacked): Promise<string> {
  const { messages } = await field.rpc(toolCall(1, "hello.greet", { name: "Ann" }), { as: "ann", at: 0 });
  return JSON.stringify(messages.at(-1)?.result?.content ?? messages.at(-1));
}

async function inFlight(field: Attacked): Promise<number> {
  const { text } = await field.api("GET", "/metrics", undefined, { as: "ops", at: 0 });
  return Number(/^isthmus_bytes_in_flight (\d+)$/m.exec(text)?.[1]);
}

/** Several at once, as many as it takes; others are answered meanwhile. */
async function pourAll(field: Attacked, pouring: Pouring, poured: Poured): Promise<void> {
  const count = Math.ceil(TOTAL / poured.bytes);
  let sent = 0;
  const one = async () => {
    while (sent++ < count) await pouring.pour(field.origin(0), poured);
  };
  const all = Promise.all(Array.from({ length: 8 }, one)).then(() => true);
  while (!(await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 50, false))])))
    expect(await greet(field)).toContain("Hello, Ann!");
}

const callOf = (name: string) => {
  const [before = "", after = ""] = JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, name, { who: "|" }) }).split("|");
  return { before, after };
};

const config = `${access}${feed}${helloServer()}${slowServer("slow")}${slowServer("narrow", "concurrency = 1")}`;

describeAttacks("callers who send more than the gateway has memory for", { config, tokens, env }, (field) => {
  const large = { path: "/mcp", bytes: 4 * MIB };
  const ways: [string, () => Poured | Promise<Poured>][] = [
    ["bodies that never end", () => ({ ...large, headers: field.as("mallory") })],
    ["bodies in chunks that never end", () => ({ ...large, headers: field.as("mallory"), isChunked: true })],
    [
      "bodies without a credential, where anybody may send some",
      () => ({ path: "/api/revocations/signed", bytes: MIB }),
    ],
    ["bodies in chunks without a credential", () => ({ path: "/api/revocations/signed", bytes: MIB, isChunked: true })],
    ["calls that run for long", () => ({ ...large, headers: field.as("mallory"), message: callOf("slow.work") })],
    [
      "calls that run for long, in chunks",
      () => ({ ...large, headers: field.as("mallory"), isChunked: true, message: callOf("slow.work") }),
    ],
    ["calls that wait in line", () => ({ ...large, headers: field.as("mallory"), message: callOf("narrow.work") })],
    [
      "calls in a session",
      async () => {
        const session = await openSession(`${field.origin(0)}/mcp`, {}, field.as("mallory"));
        return { ...large, headers: { ...field.as("mallory"), ...session }, message: callOf("narrow.work") };
      },
    ],
  ];

  test.each(ways)("%s: others are served, and nothing of it is kept", async (_, way) => {
    const poured = await way();
    using pouring = new Pouring();
    await pourAll(field, pouring, poured);
    // Much smaller bodies than what is turned away, and larger ones of others, find room.
    expect(await greet(field)).toContain("Hello, Ann!");
    const long = await field.rpc(toolCall(1, "hello.greet", { name: "x".repeat(MIB) }), { as: "ann", at: 0 });
    expect(JSON.stringify(long.messages).slice(0, 200)).toContain("Hello, xxx");
    pouring[Symbol.dispose]();
    const isOver = async () => {
      slow.endAll();
      return inFlight(field);
    };
    // The request for the number is no message that is held.
    await expect.poll(isOver, { timeout: 20_000 }).toBe(0);
  });
});

describeAttacks("a gateway without feeds", { config: `${access}${helloServer()}`, tokens }, (field) => {
  test.each(["/api/revocations/signed", "/api/revocations/signed?x=1", "/api/revocations/%73igned"])(
    "has no operation for whoever is not known: %s",
    async (path) => {
      const { status } = await field.api("POST", path, { jws: "a.b.c" });
      expect(status).toBe(401);
      const known = await field.api("POST", path, { jws: "a.b.c" }, { as: "ann" });
      expect([403, 404]).toContain(known.status);
    },
  );
});

const wordy = (id: string) => kitServer(id, "wordy-server.mjs", 'era = "2025"\nmaxMessage = "80MiB"');

describeAttacks(
  "servers whose answers are larger than the memory",
  { config: `${access}${helloServer()}${wordy("one")}${wordy("two")}`, tokens, env },
  (field) => {
    beforeAll(async () => {
      await greet(field);
    });
    const say = async (name: string, mib: number) => {
      const response = await fetch(`${field.origin(0)}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json", ...field.as("mallory") },
        body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, name, { mib }) }),
      });
      return await response.text();
    };

    test.each([
      ["of two servers at once", ["one.say", "two.say"], 40],
      ["of one server, one after the other", ["one.say", "one.say"], 40],
      ["that would fit alone", ["one.say", "two.say", "one.say", "two.say", "one.say", "two.say"], 8],
    ])("%s end those calls, or come whole", async (_, names, mib) => {
      const said = await Promise.all(names.map((name) => say(name, mib)));
      for (const one of said) if (one.length < mib * MIB) expect(one).toContain("OVERLOADED");
      expect(await greet(field)).toContain("Hello, Ann!");
      await expect.poll(() => inFlight(field), { timeout: 20_000 }).toBe(0);
      const short = await field.rpc(toolCall(1, "one.greet", {}), { as: "ann", at: 0 });
      expect(JSON.stringify(short.messages)).toContain("hello");
    });
  },
);
