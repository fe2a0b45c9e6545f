/** Calls that wait in line for a slot of their server while what let them in is taken back. */
import { afterAll, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { SlowServer } from "./kit/slow-server.ts";

const slow = await SlowServer.start();
afterAll(() => slow[Symbol.asyncDispose]());

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "slow"
url = ${JSON.stringify(slow.url)}
era = "2025"
concurrency = 1
sessions = "shared"
`;
const USERS = ["bob", "cleo", "dan"] as const;
const tokens = {
  ann: ["--user", "ann"],
  root: ["--user", "root", "--role", "admin"],
  ...Object.fromEntries(USERS.map((user) => [user, ["--user", user]])),
};

/** `who` tells the runs of the suite apart. */
function callAs(field: Attacked, as: string, who: string): Promise<string> {
  const answer = field.rpc(toolCall(1, "slow.work", { who }), { as, at: 0 });
  return answer.then(({ messages }) => JSON.stringify(messages.at(-1)));
}

async function namesOf(field: Attacked, as: string): Promise<string> {
  const { messages } = await field.rpc({ id: 1, method: "tools/list", params: {} }, { as, at: 0 });
  return JSON.stringify(messages.at(-1));
}

const begun = (who: string) => slow.begun.filter((one) => one === who).length;

describeAttacks("calls in line", { config, tokens }, (field) => {
  /** In another process, where there is one. */
  const at = () => field.processes - 1;
  const deny = (user: string, more: object) => {
    const entry = { agent_id: user, server_id: "slow", permission: "deny", ...more };
    return field.api("POST", "/api/access/grant", entry, { as: "root", at: at() });
  };
  const waitingOf = async (user: string) => {
    const { body } = await field.api("GET", "/api/calls", undefined, { as: "root", at: 0 });
    const { running } = body as { running: readonly { principal: string }[] };
    return running.filter(({ principal }) => principal.includes(`/${user}/`)).length;
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
    await expect.poll(() => waitingOf(user)).toBe(2);
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
