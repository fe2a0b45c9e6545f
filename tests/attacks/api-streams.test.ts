/** Streams of the API that somebody opens and never reads: they have a bound, and one caller only a share of it. */
import { afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]\ntokens = true\n${helloServer()}`;
const operator = (user: string) => ["--user", user, "--role", "operator"];
const tokens = { ann: operator("ann"), bob: operator("bob"), carl: operator("carl") };
const SHARE = 64;

describeAttacks("streams of the API", { config, tokens }, (field) => {
  let life = new AbortController();
  afterEach(() => life.abort());

  test.each([
    ["ann", (_at: number) => "/api/logs/stream"],
    ["bob", (at: number) => `/api/logs/stream?text=${at}`],
    ["carl", (at: number) => (at % 2 === 0 ? "/api/logs/stream?level=error" : "/api/logs/stream?level=debug")],
  ])("are not all %s's, however they are asked for", async (as, path) => {
    life = new AbortController();
    const open = (user: string, at: number) =>
      fetch(`${field.origin(0)}${path(at)}`, { headers: field.as(user), signal: life.signal });
    // Kept: what nobody has any more is closed by fetch itself.
    const kept: Response[] = [];
    for (let at = 0; at < SHARE + 5; at++) kept.push(await open(as, at));
    expect(kept.map(({ status }) => status)).toEqual([...Array(SHARE).fill(200), ...Array(5).fill(429)]);
    const refused = await open(as, 0);
    expect(await refused.text()).toContain("Too many streams of events of yours are open here");
    const other = as === "ann" ? "bob" : "ann";
    await expect.poll(async () => (await open(other, 0)).status).toBe(200);
    life.abort();
    life = new AbortController();
    await expect.poll(async () => (await open(as, 0)).status).toBe(200);
  });
});
