/** One caller, or one server, that wants everything for itself. */
import { type ClientRequest, type RequestOptions, request } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { eventually, lastAnswer } from "../kit/eventually.ts";
import { kitServer } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { SlowServer } from "./kit/slow-server.ts";

const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());
afterEach(() => slow.endAll());

const LIMIT = 2;
const TRIES = 8;
const LONGER_THAN_OTHERS_WAIT_MS = 7_000;

const server = (id: string, more = "") => `[[servers]]\nid = "${id}"\nurl = "${slow.url}"\n${more}\n`;
const limit = (id: string) => `[[limits]]\nserver = "${id}"\nper = ["user"]\nconcurrency = ${LIMIT}\n`;
const config = `[auth]\ntokens = true
[access]\ndefaultPolicy = "opt-out"
${server("limited")}${server("hasty", 'timeout = "300ms"')}${server("narrow", `concurrency = ${LIMIT}`)}
${limit("limited")}${limit("hasty")}
${["patient1", "patient2", "patient3"].map((id) => server(id) + limit(id)).join("")}${server("narrow2", `concurrency = ${LIMIT}`)}`;
const tokens = {
  ann: ["--user", "ann"],
  mallory: ["--user", "mallory"],
  boss: ["--user", "boss", "--tenant", "acme", "--role", "admin"],
};

const META = "io.modelcontextprotocol/";
const modern = (name: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": name,
});
const modernCall = (name: string, who: string) =>
  toolCall(
    1,
    name,
    { who },
    {
      [`${META}protocolVersion`]: "2026-07-28",
      [`${META}clientInfo`]: { name: "attacker", version: "1" },
      [`${META}clientCapabilities`]: {},
    },
  );

type Sent = { readonly url: string; readonly headers: Record<string, string>; readonly abort: AbortController };

/** Makes a call and does not wait for it. `label`: as what the server sees it. */
async function send(
  field: Attacked,
  name: string,
  who: string,
  era: "2025" | "2026",
  at?: number,
  label = who,
): Promise<Sent> {
  const url = `${field.origin(at)}/mcp`;
  const token = field.as(who);
  const abort = new AbortController();
  const headers = era === "2026" ? modern(name) : await openSession(url, {}, token);
  const message = era === "2026" ? modernCall(name, label) : toolCall(1, name, { who: label });
  const answered = fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...token,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal: abort.signal,
  }).then((response) => response.text());
  answered.catch(() => undefined);
  return { url, headers: { ...token, ...headers }, abort };
}

type Leave = (sent: Sent) => Promise<unknown>;
const cancel: Leave = ({ url, headers }) =>
  post(url, { method: "notifications/cancelled", params: { requestId: 1 } }, headers);
const endSession: Leave = ({ url, headers }) => fetch(url, { method: "DELETE", headers });
const hangUp: Leave = async ({ abort }) => abort.abort();

describeAttacks("a caller that leaves its calls", { config, tokens }, (field) => {
  const leaving: [string, string, "2025" | "2026", Leave][] = [
    ["cancels them", "limited.work", "2025", cancel],
    ["ends their session", "limited.work", "2025", endSession],
    ["closes their connection", "limited.work", "2026", hangUp],
    ["lets their time pass", "hasty.work", "2026", async () => undefined],
  ];

  test.each(leaving)("and %s has no more of them run than its limit allows", async (_, name, era, leave) => {
    let most = 0;
    for (let turn = 0; turn < TRIES; turn++) {
      const before = slow.begun.length;
      const sent = await send(field, name, "mallory", era);
      // Those over the limit are refused, and never come here.
      await lastAnswer(
        () => slow.begun.length,
        (count) => count > before,
        turn < LIMIT ? 10_000 : 300,
      );
      await leave(sent);
      most = Math.max(most, slow.running);
    }
    expect(most).toBe(LIMIT);
    slow.endAll();
    const count = slow.begun.length;
    // What the server has answered counts no more.
    const served = async () => {
      const sent = await send(field, name, "mallory", "2026");
      const begun = await lastAnswer(
        () => slow.begun.length,
        (now) => now > count,
        500,
      );
      sent.abort.abort();
      return begun > count;
    };
    expect(await eventually(served, (isServed) => isServed)).toBe(true);
  });

  // The server ignores cancels, and after some seconds others need not wait for it.
  const patient: [string, string, "2025" | "2026", Leave][] = [
    ["cancels", "patient1.work", "2025", cancel],
    ["ends its session", "patient2.work", "2025", endSession],
    ["hangs up", "patient3.work", "2026", hangUp],
    ["hangs up on all slots", "narrow2.work", "2026", hangUp],
  ];

  async function keepTrying([how, name, era, leave]: (typeof patient)[number]): Promise<number> {
    const label = `${how} ${field.processes}`;
    const begun = () => slow.begun.filter((one) => one === label).length;
    for (let turn = 0; turn < LIMIT; turn++) {
      const sent = await send(field, name, "mallory", era, 0, label);
      await eventually(begun, (count) => count > turn);
      await leave(sent);
    }
    const again = async () => {
      await leave(await send(field, name, "mallory", era, 0, label));
      return begun();
    };
    return lastAnswer(again, (count) => count > LIMIT, LONGER_THAN_OTHERS_WAIT_MS);
  }

  test("has no more of them run than its limit allows, however long it tries", async () => {
    expect(await Promise.all(patient.map(keepTrying))).toEqual(patient.map(() => LIMIT));
    // Nobody else is kept out of the slots.
    const label = `ann ${field.processes}`;
    await send(field, "narrow2.work", "ann", "2026", 0, label);
    const begun = () => slow.begun.includes(label);
    expect(await eventually(begun, (isBegun) => isBegun)).toBe(true);
  });
});

describeAttacks("a caller that wants all slots of a server", { config, tokens }, (field) => {
  const hog: [string, "2025" | "2026", (sent: Sent) => void][] = [
    ["in sessions", "2025", () => undefined],
    ["without sessions", "2026", () => undefined],
    ["and cancels what runs", "2026", ({ abort }) => abort.abort()],
  ];

  test.each(hog)("%s leaves the next free one to whoever has none", async (_, era, leave) => {
    const from = slow.begun.length;
    const begun = () => slow.begun.slice(from);
    for (let turn = 0; turn < LIMIT; turn++) {
      const sent = await send(field, "narrow.work", "mallory", era, 0);
      await eventually(
        () => begun().length,
        (count) => count > turn,
      );
      leave(sent);
    }
    for (let turn = 0; turn < LIMIT * 2; turn++) await send(field, "narrow.work", "mallory", "2026", 0);
    await send(field, "narrow.work", "ann", "2026", 0);
    // Everything waits now: nobody new has begun.
    expect(
      await lastAnswer(
        () => begun().length,
        (count) => count > LIMIT,
        500,
      ),
    ).toBe(LIMIT);
    slow.endOne();
    await eventually(
      () => begun().length,
      (count) => count > LIMIT,
    );
    expect(begun()).toEqual(["mallory", "mallory", "ann"]);
    for (let turn = 0; turn < LIMIT * 2; turn++) {
      slow.endAll();
      await lastAnswer(
        () => slow.running,
        (count) => count > 0,
        1_000,
      );
    }
  });
});

describeAttacks("a tenant's admin that wants all slots and the whole line of a server", { config, tokens }, (field) => {
  const making: [string, (at: number) => object][] = [
    ["tokens of one user", () => ({ user: "boss" })],
    ["users", (at) => ({ user: `user ${at}` })],
    ["clients of users", (at) => ({ user: `c${at}`, client: "x" })],
  ];

  test.each(making)("by making %s leaves a place to everybody else, and the next free slot", async (_, bodyOf) => {
    const from = slow.begun.length;
    const begun = () => slow.begun.slice(from);
    const refused: string[] = [];
    const call = async (authorization: string, who: string) => {
      const { messages } = await post(`${field.origin(0)}/mcp`, modernCall("narrow.work", who), {
        authorization,
        ...modern("narrow.work"),
      });
      const text = JSON.stringify(messages);
      if (text.includes("OVERLOADED")) refused.push(who);
    };
    const running: Promise<void>[] = [];
    // All slots, and four times as many in the line.
    for (let at = 0; at < LIMIT * 5 + 2; at++) {
      const { body } = await field.api("POST", "/api/tokens", bodyOf(at), { as: "boss" });
      running.push(call(`Bearer ${(body as { token: string }).token}`, "boss"));
      if (at < LIMIT) await expect.poll(() => begun().length).toBe(at + 1);
    }
    await expect.poll(() => refused.length).toBe(2);
    running.push(call(field.as("ann").authorization ?? "", "ann"));
    // Somebody gives up a place for her.
    await expect.poll(() => refused.length).toBe(3);
    expect(refused).not.toContain("ann");
    slow.endOne();
    await expect.poll(() => begun().length).toBe(LIMIT + 1);
    expect(begun().at(-1)).toBe("ann");
    const over = Promise.all(running).then(() => true);
    const isOver = () => {
      slow.endAll();
      return Promise.race([over, undefined]);
    };
    await expect.poll(isOver).toBe(true);
  });
});

const NOISY = fileURLToPath(new URL("./kit/noisy-server.mjs", import.meta.url));
const noisyServer = (id: string, options: object, more = "") =>
  `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([NOISY, JSON.stringify(options)])}\n${more}\n`;
/** As an operator may have it who wants all of them. */
const READ_ALL = 'maxEntries = 100_000\nmaxList = "64MiB"';
const CALLS = 100;
const CHANGES = 100;

for (const [what, read, servers] of [
  [
    "of 100,000 tools, of which 10,000 are read, that says the same again and again",
    10_000,
    [noisyServer("noisy", {})],
  ],
  [
    "of 100,000 tools, of which 10,000 are read, that changes a word of it each time",
    10_000,
    [noisyServer("noisy", { isChanging: true })],
  ],
  [
    "of 100,000 tools in pages, of which 10,000 are read",
    10_000,
    [noisyServer("noisy", { pageSize: 1_000, isChanging: true })],
  ],
  [
    "of 100,000 tools, all of which are read, that changes a word of it each time",
    100_000,
    [noisyServer("noisy", { isChanging: true }, READ_ALL)],
  ],
  [
    "of 10,000 tools that is one of several",
    10_000,
    ["noisy", "noisy2", "noisy3"].map((id) => noisyServer(id, { tools: 10_000, isChanging: true })),
  ],
] as const) {
  describeAttacks(`a server ${what}`, { config: `${helloServer()}${servers.join("")}` }, (field) => {
    test("keeps nobody from calling another one", async () => {
      const headers = await openSession(`${field.origin(0)}/mcp`);
      const call = async (name: string, args = {}) => {
        const { messages } = await post(`${field.origin(0)}/mcp`, toolCall(1, name, args), headers);
        const [content] = (messages.at(-1)?.result?.content ?? []) as { text: string }[];
        return content?.text ?? "";
      };
      const counts = async () =>
        JSON.parse((await call("noisy.counts")) || '{"said":0,"listed":0}') as { said: number; listed: number };
      const before = await counts();
      let after = before;
      for (let calls = 0; calls < CALLS || after.said < before.said + CHANGES; calls++) {
        expect(await call("hello.greet", { name: "Ada" })).toContain("Hello, Ada!");
        if (calls % 20 === 0) after = await counts();
      }
      // It is not read as often as it says that it has changed.
      expect(after.listed - before.listed).toBeLessThan(CHANGES / 10);
      expect(await call(`noisy.tool_${read - 1}`)).not.toBe("");
      expect(await call(`noisy.tool_${read}`)).toBe("");
    });
  });
}

const CALLS_BESIDE = 50;
/** With bodies in YAML that are read as far as they go, one call took seconds. */
const TIME_BESIDE_MS = 20_000;
const api = {
  config: `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`,
  tokens: { ann: ["--user", "ann"], mallory: ["--user", "mallory"], vic: ["--user", "vic", "--role", "viewer"] },
};

describeAttacks("a caller that sends bodies in YAML which are wrong all over", { ...api }, (field) => {
  const bodies = ["}".repeat(48_000), `{${",".repeat(48_000)}`, `"${"\\q".repeat(24_000)}"`, "- a\n".repeat(16_000)];

  test.each([
    ["without a role", "mallory", "/api/access/query", 415],
    ["that may look", "vic", "/api/access/explain", 400],
  ])("keeps nobody from calling: %s", async (_, who, path, status) => {
    const headers = await openSession(`${field.origin(0)}/mcp`, {}, field.as("ann"));
    const heard = new Set<number>();
    let [calls, isOver] = [0, false];
    const attack = async (body: string) => {
      while (!isOver) {
        const as = { ...field.as(who), "content-type": "application/yaml" };
        const answer = await fetch(`${field.origin(0)}${path}`, { method: "POST", headers: as, body });
        heard.add(answer.status);
        await answer.text();
      }
    };
    const attacks = bodies.map(attack);
    const end = performance.now() + TIME_BESIDE_MS;
    for (; calls < CALLS_BESIDE && performance.now() < end; calls++) {
      const { messages } = await field.rpc(toolCall(1, "hello.greet", { name: "Ada" }), { as: "ann", at: 0, headers });
      expect(JSON.stringify(messages)).toContain("Hello, Ada!");
    }
    isOver = true;
    await Promise.all(attacks);
    expect([calls, ...heard]).toEqual([CALLS_BESIDE, status]);
  });
});

const wordy = kitServer("wordy", "wordy-server.mjs", 'era = "2025"');

/** With answers of 15 MiB: more than is kept of what nobody reads, and some of it is in the buffers of the system. */
const CONNECTIONS = 13;

describeAttacks("callers that do not read their answers", { config: wordy, gateway: "sse = true" }, (field) => {
  const unread: ClientRequest[] = [];
  afterEach(() => {
    for (const one of unread.splice(0)) one.destroy();
  });

  /** Asks for something and reads only up to what `wanted` finds in it. */
  function ask(path: string, options: RequestOptions, message?: object, wanted = /^/): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const sent = request(`${field.origin(0)}${path}`, { agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("latin1").on("data", (piece: string) => {
        text += piece;
        const found = wanted.exec(text);
        if (!found) return;
        response.pause();
        resolve(found[1] ?? "");
      });
    });
    sent.on("error", () => undefined);
    sent.end(message && JSON.stringify({ jsonrpc: "2.0", ...message }));
    unread.push(sent);
    return promise;
  }

  const posting = (accept: string, more = {}) => ({
    method: "POST",
    headers: { accept, "content-type": "application/json", ...more },
  });
  const say = (id: number, mib: number) => toolCall(id, "wordy.say", { mib });

  const ways: [string, () => Promise<void>][] = [
    [
      "as JSON, on many connections",
      async () => {
        for (let turn = 0; turn < CONNECTIONS; turn++)
          void ask("/mcp", posting("application/json, text/event-stream"), say(1, 15));
      },
    ],
    [
      "as events, on many connections",
      async () => {
        for (let turn = 0; turn < CONNECTIONS; turn++)
          void ask("/mcp", posting("text/event-stream, application/json"), say(1, 15));
      },
    ],
    [
      "on one line of 2024",
      async () => {
        const path = await ask("/sse", { headers: { accept: "text/event-stream" } }, undefined, /data: (.*)\n/);
        const tell = (message: object) =>
          fetch(`${field.origin(0)}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ jsonrpc: "2.0", ...message }),
          });
        await tell({
          id: 0,
          method: "initialize",
          params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } },
        });
        for (let id = 1; id <= 12; id++) await tell(say(id, 6));
      },
    ],
  ];

  // A client that does not read does not hear that it was cut off, either.
  const countCut = () => field.log().match(/client cut off that does not read/g)?.length ?? 0;

  test.each(ways)("%s are cut off, and others are answered", async (_, attack) => {
    const before = countCut();
    await attack();
    expect(await eventually(countCut, (count) => count > before, 30_000)).toBeGreaterThan(before);
    // What the server has said to them comes first on its pipe.
    const greet = () => field.rpc(toolCall(1, "wordy.greet", {}), { at: 0 }).catch(() => undefined);
    const answer = await eventually(greet, (one) => one !== undefined, 30_000);
    expect(answer?.messages.at(-1)?.result?.content).toEqual([{ type: "text", text: "hello" }]);
  });
});
