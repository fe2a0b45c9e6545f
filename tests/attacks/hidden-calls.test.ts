/** A caller that asks for so many approvals that nobody finds those of others: in no list, and not by the id that they were told. */
import { afterAll, expect, test } from "vitest";
import { type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const config = `[auth]
tokens = true
${places.gatedTable('hold = "50ms"')}`;
const tokens = {
  op: ["--user", "op", "--role", "operator"],
  bob: ["--user", "bob"],
  one: ["--user", "mallory"],
  two: ["--user", "mallory"],
  three: ["--user", "mallory", "--client", "phone"],
};

type Gate = { readonly confirmation_id: string };
type Listed = Gate & { readonly requester: { readonly user: string } };

const gateOf = (answer: RpcMessage | undefined) =>
  (answer?.result?._meta as Record<string, Gate> | undefined)?.["x-mcpax-gate"];
const textOf = (answer: RpcMessage | undefined) => JSON.stringify(answer?.result ?? answer?.error ?? {});
/** As many as one caller may have open, and some more. */
const MANY = 110;
const AT_ONCE = 10;

let number = 0;

describeAttacks("calls that wait behind many others", { config, tokens }, (field) => {
  const call = async (as: string, meta?: object) =>
    (await field.rpc(toolCall(1, "places.touch", { path: `place ${++number}` }, meta), { as })).messages.at(-1);
  const flood = async (as: string, calls: number, metaOf: () => object | undefined) => {
    let last: RpcMessage | undefined;
    for (let made = 0; made < calls; made += AT_ONCE)
      last = (await Promise.all(Array.from({ length: AT_ONCE }, () => call(as, metaOf())))).at(-1);
    return textOf(last);
  };
  const listed = async (query = "") => {
    const { body } = await field.api("GET", `/api/approvals?state=waiting${query}`, undefined, { as: "op" });
    return body as { approvals: Listed[]; total: number };
  };
  const page = async () => (await field.api("GET", "/approvals/waiting", undefined, { as: "op" })).text;
  const verb = (...args: string[]) => field.run(args, { ISTHMUS_TOKEN: field.token("op") });

  test.each<[string, readonly string[], () => object | undefined]>([
    ["with one token", ["one"], () => undefined],
    ["for callers that it makes up", ["one"], () => ({ "dev.isthmus/requester": `r${++number}` })],
    ["with three tokens of one user", ["one", "two", "three"], () => undefined],
  ])("are found all the same, whoever asks %s", { timeout: 120_000 }, async (_how, by, metaOf) => {
    const waits = await call("bob");
    const id = gateOf(waits)?.confirmation_id ?? "";
    for (const as of by) await flood(as, MANY, metaOf);

    const html = await page();
    expect(html).toContain(id);
    expect(html.match(/<li>/g)).toHaveLength(20);
    expect(html).toMatch(/<p>\d+ more wait/);

    const { approvals, total } = await listed();
    expect(approvals.slice(0, 3).map(({ requester }) => requester.user)).toContain("bob");
    expect(total).toBeGreaterThanOrEqual(approvals.length);
    expect((await listed("&limit=3")).total).toBe(total);
    const ofBob = await listed("&user=bob");
    expect(new Set(ofBob.approvals.map(({ requester }) => requester.user))).toEqual(new Set(["bob"]));

    const list = await verb("approvals");
    expect(list.stdout.split("\n").slice(0, 8).join("\n")).toContain(id.slice(0, 8));
    const told = /isthmus approve ([0-9a-f]+)/.exec(textOf(waits))?.[1] ?? "";
    expect(id.startsWith(told)).toBe(true);
    const approved = await verb("approve", told, "--yes");
    expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining(id)]);
  });

  test("are no more of one user, with however many tokens, than the user may have", { timeout: 60_000 }, async () => {
    const refused = await Promise.all(["one", "two", "three"].map((as) => flood(as, 20, () => undefined)));
    expect(refused.every((text) => text.includes("that wait for an approval"))).toBe(true);
    const { total } = await listed("&user=mallory");
    // Processes that count at the same moment may each open one more.
    expect(total).toBeLessThanOrEqual(200 + field.processes - 1);
    expect(total).toBeGreaterThanOrEqual(200);
    expect(gateOf(await call("bob"))).toBeDefined();
    const { stderr } = await verb("approvals");
    expect(stderr).toMatch(/\d+ more wait/);
  });
});
