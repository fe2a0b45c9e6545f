/**
 * Having what came of a call whose arguments a rule denies, to another token, or since the call was made; and arguments in other spellings,
 * and places that rules look for otherwise than by glob.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { rulesFor } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";
import { Places } from "./kit/places.ts";
import { SlowServer } from "./kit/slow-server.ts";

// Their addresses stand in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());
const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());
afterEach(() => slow.endAll());

const RULES = {
  denied: { when: 'args.name == "Ada" && !("pay" in principal.scopes)', effect: "deny" },
  allowed: { when: 'args.name != "Ada" || "pay" in principal.scopes', effect: "allow" },
  counted: { when: 'size(args) > 0 && !("pay" in principal.scopes)', effect: "deny" },
};
const NAMES = Object.keys(RULES);
const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "https://gateway.example"
${issuer.table()}
[audit]
${rulesFor(RULES)}
[[access.rules]]
match = "slow.job"
when = 'args.who == "Ada" && !("pay" in principal.scopes)'
effect = "deny"
${NAMES.map((id) => helloServer(id, 'task = "auto"')).join("")}
${helloServer("later", 'task = "auto"')}
[[servers]]
id = "slow"
url = "${slow.url}"
`;
const tokens = { root: ["--user", "root", "--role", "admin"] };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };

type Headers = Record<string, string>;
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${issuer.token(claims)}` });
const good = () => bearer({ scope: "pay" });
const less = () => bearer({ scope: "other" });

async function ask(url: string, as: Headers, method: string, params: object): Promise<RpcMessage | undefined> {
  const session = { ...(await openSession(url, { tasks: {} }, as)), ...as };
  return (await post(url, { id: 1, method, params }, session)).messages.at(-1);
}

async function askModern(
  url: string,
  as: Headers,
  method: string,
  params: Record<string, unknown>,
): Promise<RpcMessage> {
  const { body, headers } = modern(method, params, { capabilities: TASKS });
  const all = { ...JSON_BODY, ...(headers as Headers), ...as };
  return JSON.parse(await (await fetch(url, { method: "POST", body: body as string, headers: all })).text());
}

async function madeTask(field: Attacked, name: string, args: object): Promise<string> {
  const params = { name, arguments: args, task: { ttl: 600_000 } };
  const made = await ask(`${field.origin()}/mcp`, good(), "tools/call", params);
  return ((made?.result?.task ?? {}) as { taskId: string }).taskId;
}

const isListed = async (url: string, as: Headers, taskId: string) =>
  JSON.stringify(await ask(url, as, "tasks/list", {})).includes(taskId);

/** As one that is not there, in both eras. */
async function isNotThere(url: string, as: Headers, taskId: string): Promise<void> {
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
    expect((await ask(url, as, method, { taskId }))?.error, method).toMatchObject({ code: -32602 });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const answer = await askModern(url, as, method, { taskId, inputResponses: {} });
    expect(answer.error, method).toMatchObject({ code: -32602 });
  }
  expect(await isListed(url, as, taskId)).toBe(false);
}

describeAttacks("what came of arguments that a rule denies", { config, tokens }, (field) => {
  const everywhere = async (check: (url: string) => Promise<void>) => {
    for (let at = 0; at < field.processes; at++) await check(`${field.origin(at)}/mcp`);
  };

  test.each(NAMES)("is told to nobody whose token could not make the call, which is on the trail: %s", async (name) => {
    const taskId = await madeTask(field, `${name}.greet`, { name: "Ada" });
    await everywhere(async (url) => {
      expect(JSON.stringify(await ask(url, good(), "tasks/result", { taskId }))).toContain("Hello, Ada!");
      await isNotThere(url, less(), taskId);
      expect(await isListed(url, good(), taskId)).toBe(true);
    });
    const trail = async () => (await field.api("GET", "/api/audit?limit=1000", undefined, { as: "root" })).text;
    await expect.poll(trail).toMatch(new RegExp(`"TOOL_BLOCKED".*"${name}"`));
  });

  test("is told where the rule is about other arguments", async () => {
    const params = { name: "denied.greet", arguments: { name: "Bob" }, task: { ttl: 600_000 } };
    const made = await ask(`${field.origin()}/mcp`, less(), "tools/call", params);
    const { taskId } = (made?.result?.task ?? {}) as { taskId: string };
    await everywhere(async (url) => {
      expect(JSON.stringify(await ask(url, less(), "tasks/result", { taskId }))).toContain("Hello, Bob!");
      expect(await isListed(url, less(), taskId)).toBe(true);
    });
  });

  test("is not told of a task that its server runs", async () => {
    const taskId = await madeTask(field, "slow.job", { who: "Ada" });
    await everywhere(async (url) => {
      expect((await ask(url, good(), "tasks/get", { taskId }))?.result).toMatchObject({ taskId });
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
        expect((await ask(url, less(), method, { taskId }))?.error, method).toMatchObject({ code: -32602 });
      expect(await isListed(url, less(), taskId)).toBe(false);
      expect(await isListed(url, good(), taskId)).toBe(true);
    });
  });

  test("is not told after the rule was written, nor where its arguments were too long to be kept", async () => {
    const taskId = await madeTask(field, "later.greet", { name: "Ada" });
    const other = await madeTask(field, "later.greet", { name: "Bob" });
    const long = await madeTask(field, "later.greet", { name: "Bob", more: "x".repeat(20_000) });
    await everywhere(async (url) => {
      for (const id of [taskId, other, long])
        expect(await ask(url, good(), "tasks/result", { taskId: id })).toHaveProperty("result");
    });
    const rule = `[[access.rules]]\nmatch = "later.*"\nwhen = 'args.name == "Ada"'\neffect = "deny"\n`;
    for (let at = 0; at < field.processes; at++) appendFileSync(join(field.folder(at), "isthmus.toml"), rule);
    await everywhere(async (url) => {
      await expect.poll(() => isListed(url, good(), taskId)).toBe(false);
      await isNotThere(url, good(), taskId);
      await isNotThere(url, good(), long);
      expect(JSON.stringify(await ask(url, good(), "tasks/result", { taskId: other }))).toContain("Hello, Bob!");
    });
  });
});

const places = new Places();
afterAll(() => places.remove());
const ruleFor = (match: string, when: string, effect: string) =>
  `[[access.rules]]\nmatch = "${match}"\nwhen = '${when}'\neffect = "${effect}"\n`;
const spelledConfig = `[auth]
tokens = true
[gate]
evidence = "operator"
hold = "0s"
[access]
defaultPolicy = "opt-out"
${ruleFor("places.touch", '"path" in args && glob(args.path, "/etc/*")', "deny")}
${ruleFor("places.read", '"force" in args', "confirm")}
${ruleFor("others.touch", 'args.exists(key, key == "path") || size(args) > 2', "deny")}
${ruleFor("others.read", 'has(args.opts) && ("path" in args.opts || args.opts.exists(key, key == "file"))', "deny")}
${places.table}${places.table.replace('id = "places"', 'id = "others"')}`;

/** What each tool may be called with, and what it is not to be called with in any spelling. */
const SPELLED: readonly [tool: string, allowed: object, spellings: readonly object[]][] = [
  [
    "places.touch",
    { path: "/srv/a", paths: 1 },
    ["path", "Path", "PATH", "pAth", "path ", "pa\u200bth", "\uff50ath"].map((key) => ({ [key]: "/etc/passwd" })),
  ],
  ["places.read", { forces: 1 }, ["force", "Force", "FORCE", " force", "force\u0000"].map((key) => ({ [key]: true }))],
  ["others.touch", { file: 1 }, ["path", "Path", "PATH", "path\t"].map((key) => ({ [key]: "/etc/passwd" }))],
  [
    "others.read",
    { opts: { a: 1 } },
    ["path", "Path", "PATH", "file", "File", "FILE "].map((key) => ({ opts: { [key]: "/etc/passwd" } })),
  ],
];

describeAttacks(
  "arguments that a rule looks for",
  { config: spelledConfig, tokens: { ann: ["--user", "ann"] } },
  (field) => {
    const calls = () => places.seen.split("tools/call").length;
    const isSent = async (name: string, args: object) => {
      const before = calls();
      const [answer] = (await field.rpc(toolCall(1, name, args), { as: "ann" })).messages;
      const isAnswered = answer?.result !== undefined && answer.result.isError !== true;
      expect(calls() > before).toBe(isAnswered);
      return isAnswered;
    };

    test.each(SPELLED)("are found by %s in every spelling", async (name, allowed, spellings) => {
      expect(await isSent(name, allowed)).toBe(true);
      for (const args of spellings) expect([args, await isSent(name, args)]).toEqual([args, false]);
    });

    test.each([
      'args.path.indexOf("/srv/") != 0',
      'args.path.substring(0, 5) != "/srv/"',
      'args.path.split("/")[1] != "srv"',
      'args.path.contains("/etc/")',
      'args.path.startsWith("/etc" + "/")',
    ])("are a place for no rule that compares text: %s", async (when) => {
      for (let at = 0; at < field.processes; at++) {
        const file = join(field.folder(at), "isthmus.toml");
        const before = readFileSync(file, "utf8");
        appendFileSync(file, ruleFor("others.read", when, "deny"));
        const { stdout, stderr } = await field.run(["doctor", "--config", file]);
        writeFileSync(file, before);
        expect(stdout + stderr).toContain("use glob(text, pattern)");
      }
    });
  },
);
