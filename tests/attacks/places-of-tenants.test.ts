/** A tenant's admin makes tokens until all places of a process are its own: streams of the API, calls that wait, by people and programs. */
import { afterAll, afterEach, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());
const config = `[auth]
tokens = true
[gateway.edge]
token = { capacity = 2000, refill = "2000/s" }
${places.gatedTable()}`;

const tokens = {
  root: ["--user", "root", "--role", "admin"],
  pat: ["--user", "pat", "--role", "viewer"],
  boss: ["--user", "boss", "--role", "admin", "--tenant", "acme"],
};
const STREAMS_OF_TENANT = 128;
const STREAMS_OF_USER = 64;
const HELD_OF_TENANT = 500;

describeAttacks("places", { config, tokens }, (field) => {
  let life = new AbortController();
  afterEach(() => {
    life.abort();
    life = new AbortController();
  });
  const make = async (body: object) => {
    const { body: made } = await field.api("POST", "/api/tokens", { role: "viewer", ...body }, { as: "boss" });
    return (made as { token: string }).token;
  };
  const makeAll = (bodies: readonly object[]) => Promise.all(bodies.map(make));
  const stream = (token: string) =>
    fetch(`${field.origin(0)}/api/events`, { headers: { authorization: `Bearer ${token}` }, signal: life.signal });

  test.each([
    ["users", Array.from({ length: 5 }, (_none, at) => ({ user: `p${at}` })), STREAMS_OF_TENANT],
    [
      "clients of users",
      Array.from({ length: 5 }, (_none, at) => ({ user: `c${at}`, client: "x" })),
      STREAMS_OF_TENANT,
    ],
    ["tokens of one user", Array.from({ length: 5 }, () => ({ user: "one" })), STREAMS_OF_USER],
  ])("of streams are not all a tenant's, who makes %s", async (_what, bodies, most) => {
    const made = await makeAll(bodies);
    const kept: Response[] = [];
    await expect.poll(async () => (await stream(field.token("pat"))).status).toBe(200);
    for (let at = 0; at < 5 * 60; at++) kept.push(await stream(made[at % made.length] ?? ""));
    expect(kept.filter(({ status }) => status === 200)).toHaveLength(most);
    for (const who of ["root", "pat"]) expect((await stream(field.token(who))).status).toBe(200);
  });

  test("of calls that wait are not all a tenant's", async () => {
    const made = await makeAll(Array.from({ length: 5 }, (_none, at) => ({ user: `h${at}` })));
    const call = (token: string) =>
      fetch(`${field.origin(0)}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "places.touch", { path: "a" }) }),
        signal: life.signal,
      }).then((answer) => answer.text());
    let refused = 0;
    const ended: Promise<unknown>[] = [];
    for (let at = 0; at < HELD_OF_TENANT + 50; at++) {
      const one = call(made[at % made.length] ?? "");
      ended.push(
        one.then(
          (text) => (refused += text.includes("This tenant has 500 calls that wait") ? 1 : 0),
          () => 0,
        ),
      );
    }
    await expect.poll(() => refused, { timeout: 30_000 }).toBe(50);
    life.abort();
    await Promise.all(ended);
  });
});
