/** Calls that wait in line for a slot of their server while what let them in is taken back, or is not enough any more. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { SlowServer } from "./kit/slow-server.ts";

const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());

const GATE = '[gate]\nhold = "50ms"\nevidence = "operator"\n';
const config = `[auth]
tokens = true
${GATE}[access]
defaultPolicy = "opt-out"
[[servers]]
id = "slow"
url = ${JSON.stringify(slow.url)}
era = "2025"
concurrency = 1
sessions = "shared"
listTtl = "1s"
headers = { x-account = "mine" }
`;
const USERS = ["bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jan", "kim", "lou"] as const;
const tokens = {
  ann: ["--user", "ann"],
  op: ["--user", "op", "--role", "operator"],
  pat: ["--user", "pat", "--role", "operator"],
  root: ["--user", "root", "--role", "admin"],
  ...Object.fromEntries(USERS.map((user) => [user, ["--user", user]])),
};

/** `who` tells the runs of the suite apart. */
function callAs(field: Attacked, as: string, who: string, tool = "work"): Promise<string> {
  const answer = field.rpc(toolCall(1, `slow.${tool}`, { who }), { as, at: 0 });
  return answer.then(({ messages }) => JSON.stringify(messages.at(-1)));
}

async function namesOf(field: Attacked, as: string): Promise<string> {
  const { messages } = await field.rpc({ id: 1, method: "tools/list", params: {} }, { as, at: 0 });
  return JSON.stringify(messages.at(-1));
}

const begun = (who: string) => slow.begun.filter((one) => one === who).length;

async function waitingOf(field: Attacked, user: string): Promise<number> {
  const { body } = await field.api("GET", "/api/calls", undefined, { as: "root", at: 0 });
  const { running } = body as { running: readonly { principal: string }[] };
  return running.filter(({ principal }) => principal.includes(`/${user}/`)).length;
}

describeAttacks("calls in line", { config, tokens }, (field) => {
  /** In another process, where there is one. */
  const at = () => field.processes - 1;
  const deny = (user: string, more: object) => {
    const entry = { agent_id: user, server_id: "slow", permission: "deny", ...more };
    return field.api("POST", "/api/access/grant", entry, { as: "root", at: at() });
  };

  test.each<[string, (typeof USERS)[number], () => ReturnType<Attacked["api"]>]>([
    ["a denied tool", "bob", () => deny("bob", { entry_type: "tool_grant", tool_name: "work" })],
    ["a denied server", "cleo", () => deny("cleo", { entry_type: "server_grant" })],
    [
      "a switch",
      "dan",
      () => {
        const exposure = { server: "slow", protocol: "mcp", primitive: "work", enabled: false };
        return field.api("PUT", "/api/policy/orgs/default/exposure", exposure, { as: "root", at: at() });
      },
    ],
  ])("are not sent after %s", async (_name, user, takeBack) => {
    const [anns, theirs] = [`ann ${user} ${field.processes}`, `${user} ${field.processes}`];
    const running = callAs(field, "ann", anns);
    await expect.poll(() => begun(anns)).toBe(1);
    const waiting = [callAs(field, user, theirs), callAs(field, user, theirs)];
    await expect.poll(() => waitingOf(field, user)).toBe(2);
    // The word has come there where the old ones wait. Nobody asks by a call: before that it would wait behind them.
    expect((await takeBack()).status).toBeLessThan(300);
    await expect.poll(() => namesOf(field, user), { timeout: 8_000 }).not.toContain("slow.work");
    expect(await callAs(field, user, "new")).toMatch(/Unknown tool|NOT_ALLOWED|NO_SUCH_TARGET/);
    slow.endAll();
    await running;
    for (const answer of await Promise.all(waiting)) expect(answer).toMatch(/NO_SUCH_TARGET|NOT_ALLOWED|CANCELLED/);
    expect([begun(theirs), begun("new")]).toEqual([0, 0]);
  });
});

describeAttacks("calls in line that came before a yes was wanted", { config, tokens }, (field) => {
  const texts = () => Array.from({ length: field.processes }, (_, at) => join(field.folder(at), "isthmus.toml"));
  /** In every process; the last one is where the calls wait. */
  const write = async (change: (text: string) => string) => {
    for (const [place, file] of [...texts().entries()].reverse()) {
      writeFileSync(file, change(readFileSync(file, "utf8")));
      const { status } = await field.api("POST", "/api/config/reload", undefined, { as: "root", at: place });
      expect(status).toBe(204);
    }
  };
  const RULES = /\[\[access\.rules\]\][^[]*/;
  const withGate = (gate: string) => (text: string) => text.replace(/\[gate\][^[]*/, gate);
  const withRule = (more: string) => (text: string) =>
    text
      .replace(RULES, "")
      .replace("[[servers]]", `[[access.rules]]\nmatch = "slow.work"\neffect = "confirm"\n${more}[[servers]]`);
  const withKey = (text: string) =>
    text.replace(GATE, `${GATE}[[gate.anchors]]\nkey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${"A".repeat(43)}"\n`);
  const KEY = /\[\[gate\.anchors\]\][^[]*/;
  afterEach(async () => {
    slow.description = "Works.";
    await write((text) => withGate(GATE)(text.replace(RULES, "").replace(KEY, "").replace('"theirs"', '"mine"')));
  });

  const RULE = withRule("");
  const SIGNED = withRule('evidence = "external_proof"\n');
  const STRICT = withGate(`${GATE}mode = "strict"\n`);

  test.each<[string, (typeof USERS)[number], (text: string) => string]>([
    ["a rule wants a yes to them", "eve", RULE],
    ["a rule wants a signed yes to them", "fay", SIGNED],
    ["the gate wants a yes to what declares nothing", "gus", STRICT],
  ])("are not sent without a yes when %s by then", async (_name, user, change) => {
    const [anns, theirs] = [`ann ${user} ${field.processes}`, `${user} ${field.processes}`];
    const running = callAs(field, "ann", anns);
    await expect.poll(() => begun(anns)).toBe(1);
    const waiting = [callAs(field, user, theirs), callAs(field, user, theirs)];
    await expect.poll(() => waitingOf(field, user)).toBe(2);
    await write(change);
    expect(await callAs(field, user, "new")).toContain("confirmation_required");
    slow.endAll();
    await running;
    for (const answer of await Promise.all(waiting)) expect(answer).toMatch(/Call again.*"CONFIRMATION_REQUIRED"/);
    expect([begun(theirs), begun("new")]).toEqual([0, 0]);
  });

  /** Whose call has used an operator's yes, and waits in line with it. */
  async function releasedInLine(user: (typeof USERS)[number]) {
    const [anns, theirs] = [`ann ${user} ${field.processes}`, `${user} ${field.processes}`];
    await write(RULE);
    const running = callAs(field, "ann", anns, "job");
    await expect.poll(() => begun(anns)).toBe(1);
    const [, id] = /confirmation_id\W+([\w-]{36})/.exec(await callAs(field, user, theirs)) ?? [];
    const { status } = await field.api("POST", `/api/approvals/${id}/approve`, {}, { as: "op", at: 0 });
    expect(status).toBe(200);
    const released = callAs(field, user, theirs);
    const stateOf = async () => (await field.api("GET", `/api/approvals/${id}`, undefined, { as: "op", at: 0 })).body;
    await expect.poll(stateOf).toMatchObject({ state: "consumed" });
    const end = async () => {
      slow.endAll();
      await running;
    };
    return { theirs, released, end };
  }

  test("are sent with the yes that they have used, whatever rule wants one by then", async () => {
    const { theirs, released, end } = await releasedInLine("hal");
    await write((text) => STRICT(RULE(text)));
    await end();
    await expect.poll(() => begun(theirs)).toBe(1);
    slow.endAll();
    expect(await released).toContain('"content":[]');
  });

  test.each<[string, (typeof USERS)[number], () => Promise<unknown>]>([
    [
      "their tool says something else of itself",
      "jan",
      async () => {
        slow.description = "Deletes everything.";
        await expect.poll(() => namesOf(field, "jan"), { timeout: 8_000 }).toContain("Deletes everything.");
      },
    ],
    ["other keys may sign a yes", "kim", () => write(withKey)],
    ["calls of their server go elsewhere", "lou", () => write((text) => text.replace('"mine"', '"theirs"'))],
  ])("are not sent with the yes that they have used when %s by then", async (_what, user, change) => {
    const { theirs, released, end } = await releasedInLine(user);
    await change();
    await end();
    expect(await released).toMatch(/Call again.*"CONFIRMATION_REQUIRED"/);
    expect(begun(theirs)).toBe(0);
  });

  test("are not sent once more, when they are lost, with the yes of somebody blocked by then", async () => {
    const theirs = `lost ${field.processes}`;
    await write((text) => RULE(text).replace('"slow.work"', '"slow.again"'));
    const [, id] = /confirmation_id\W+([\w-]{36})/.exec(await callAs(field, "bob", theirs, "again")) ?? [];
    expect((await field.api("POST", `/api/approvals/${id}/approve`, {}, { as: "pat", at: 0 })).status).toBe(200);
    const answer = callAs(field, "bob", theirs, "again");
    await expect.poll(() => begun(theirs)).toBe(1);
    const block = { type: "user", id: "pat", reason: "stolen" };
    expect((await field.api("POST", "/api/revocations", block, { as: "root", at: field.processes - 1 })).status).toBe(
      201,
    );
    const look = async () => (await field.api("GET", "/api/approvals", undefined, { as: "pat", at: 0 })).status;
    await expect.poll(look, { timeout: 8_000 }).toBe(401);
    slow.loseAll();
    expect(await answer).toMatch(/was called, but its server was lost.*blocked since.*"CONFIRMATION_REQUIRED"/);
    expect(begun(theirs)).toBe(1);
  });

  test("are not sent with the yes that they have used when a stronger one is wanted by then", async () => {
    const { theirs, released, end } = await releasedInLine("ida");
    await write(SIGNED);
    await end();
    expect(await released).toMatch(/Call again.*"CONFIRMATION_REQUIRED"/);
    expect(begun(theirs)).toBe(0);
  });
});
