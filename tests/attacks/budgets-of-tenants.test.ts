/** A tenant's admin gets back by limits of its own what the platform has limited for the tenant. */
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${helloServer()}`;
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  boss: ["--user", "boss", "--role", "admin", "--tenant", "acme"],
};
const LIMITS = "/api/ratelimits/orgs/acme";
const SET = { selector: { primitive: "hello.greet" }, per: ["user"], budget: 1 };
const OWN = { ...SET, budget: 1000 };

const SPELLINGS: readonly [string, readonly object[]][] = [
  ["one that is like the platform's", [OWN]],
  ["several that are like the platform's", [OWN, OWN, OWN]],
  [
    "one that is for the same, written out",
    [{ ...OWN, selector: { ...SET.selector, user: "*", client: "*", server: "*" } }],
  ],
  ["500 others", Array.from({ length: 500 }, (_none, at) => ({ ...OWN, selector: { client: "*".repeat(at + 1) } }))],
];

describeAttacks("what the platform has limited for a tenant", { config, tokens }, (field) => {
  test.each(SPELLINGS)("stays spent beside limits of its admin: %s", async (_name, own) => {
    const call = async () =>
      JSON.stringify((await field.rpc(toolCall(1, "hello.greet", { name: "x" }), { as: "boss" })).messages);
    expect((await field.api("PUT", LIMITS, [SET], { as: "root" })).status).toBe(200);
    await expect.poll(call, { timeout: 10_000 }).toContain("The budget of this");
    // In force everywhere once each process refuses by this one.
    const probe = [...own, { selector: { primitive: "hello.count" }, budget: 1 }];
    expect((await field.api("PUT", LIMITS, probe, { as: "boss" })).status).toBe(200);
    for (let at = 0; at < field.processes; at++) {
      const count = async () =>
        JSON.stringify((await field.rpc(toolCall(2, "hello.count", { to: 1 }), { as: "boss", at })).messages);
      await expect.poll(count, { timeout: 10_000 }).toContain("The budget of this");
    }
    for (let at = 0; at < field.processes; at++) expect(await call()).toContain("The budget of this");
  });
});
