/** A caller that asks for approvals with very long arguments, so that whoever lists what waits holds up the gateway, or sees nothing else. */
import { afterAll, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());
const config = `[auth]
tokens = true
${places.gatedTable()}`;
const tokens = {
  op: ["--user", "op", "--role", "operator"],
  ann: ["--user", "ann"],
  zwsp: ["--user", "zwsp"],
  list: ["--user", "list"],
  meta: ["--user", "meta"],
};
const LONG = 40_000;
/** As many as may be approved, of which each is long. */
const ITEMS = 2_000;
const CALLS = 20;
/** Of all of them together: less than one has. */
const LISTED = 200_000;

type Listed = {
  confirmation_id: string;
  arguments_text?: string;
  args_sha256: string;
  long_input?: object;
  requester: { user: string };
};

describeAttacks("arguments that are very long", { config, tokens }, (field) => {
  const life = new AbortController();
  afterAll(() => life.abort());

  /** It is held until somebody decides. */
  function ask(call: object, as: string): void {
    fetch(`${field.origin(0)}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...field.as(as) },
      body: JSON.stringify({ jsonrpc: "2.0", ...call }),
      signal: life.signal,
    }).catch(() => undefined);
  }

  async function waiting(): Promise<{ text: string; approvals: Listed[] }> {
    const { text, body } = await field.api("GET", "/api/approvals?state=waiting", undefined, { as: "op" });
    return { text, approvals: (body as { approvals: Listed[] }).approvals };
  }

  const longOf = ({ approvals }: { approvals: Listed[] }, user: string) =>
    approvals.filter(({ long_input, requester }) => long_input !== undefined && requester.user === user);

  test.each([
    [
      "letters that cannot be seen",
      "zwsp",
      (at: number) => toolCall(1, "places.touch", { a: "\u200b".repeat(LONG), at }),
    ],
    [
      "many numbers",
      "list",
      (at: number) => toolCall(1, "places.touch", { a: new Array(ITEMS - 1).fill(1.234567890123456e-300), at }),
    ],
    ["words beside them", "meta", (at: number) => toolCall(1, "places.touch", { at }, { a: "\u202e".repeat(LONG) })],
  ])("as %s are listed by their beginning, and shown whole", { timeout: 60_000 }, async (_how, as, call) => {
    for (let at = 0; at < CALLS; at++) ask(call(at), as);
    await expect.poll(async () => longOf(await waiting(), as).length, { timeout: 30_000 }).toBe(CALLS);
    const { text, approvals } = await waiting();
    expect(text.length).toBeLessThan(LISTED);
    const [{ confirmation_id = "", args_sha256 = "" } = {}] = longOf({ approvals }, as);
    const whole = await field.api("GET", `/api/approvals/${confirmation_id}`, undefined, { as: "op" });
    expect(whole.text.length).toBeGreaterThan(LONG);
    expect(whole.body).toMatchObject({ args_sha256, arguments_text: expect.any(String) });
    expect(whole.body).not.toHaveProperty("long_input");
  });

  test.each([
    ["keys", Object.fromEntries(Array.from({ length: ITEMS + 1 }, (_, n) => [`k${n}`, 0]))],
    [
      "keys of many objects",
      { a: Array.from({ length: 10 }, () => Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, 0]))) },
    ],
    ["items", { a: Array.from({ length: ITEMS + 1 }, () => 0) }],
  ])("as too many %s are refused, with the reason", async (_what, args) => {
    const { messages } = await field.rpc(toolCall(1, "places.touch", args), { as: "ann" });
    expect(JSON.stringify(messages)).toMatch(
      /A call that must be approved is read, and has at most 2000 keys and 2000 items in lists: too many (keys|items in lists) at byte/,
    );
  });

  test("hide nobody else's call from whoever lists what waits", async () => {
    ask(toolCall(1, "places.touch", { uri: "the one that matters" }), "ann");
    await expect.poll(async () => (await waiting()).text).toContain("the one that matters");
    const { code, stdout } = await field.run(["approvals", "--url", field.origin(0)], {
      ISTHMUS_TOKEN: field.token("op"),
    });
    expect(code).toBe(0);
    expect(stdout).toContain("the one that matters");
    expect(stdout.length).toBeLessThan(LISTED);
  });
});
