/** Blocks of one primitive, against callers who name it otherwise, and against their calls that run already. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { modern } from "../kit/modern-client.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";
import { SlowServer } from "./kit/slow-server.ts";

const places = new Places();
const slow = await SlowServer.start();
afterAll(async () => {
  places.remove();
  await slow[Symbol.asyncDispose]();
});

const OPEN = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
`;
const ROOT = { root: ["--user", "root", "--role", "admin"] };

const block = (field: Attacked, body: object) => field.api("POST", "/api/revocations", body, { as: "root" });
const everywhere = (field: Attacked) => Array.from({ length: field.processes }, (_, at) => at);

/** What is blocked, and how else it can be named. */
const SPELLED: Readonly<Record<string, readonly string[]>> = {
  "file:///docs/pay%20roll.txt": [
    "file:///docs/pay roll.txt",
    "file:///docs/pay%20roll.txt.",
    "file:///docs/pay%20roll.txt%20",
    "file:///docs/./pay%20roll.txt",
    "file:///docs//pay%20roll.txt",
    "file:///docs/%70ay%20roll.txt",
  ],
  "file:///docs/pay list.txt": ["file:///docs/pay%20list.txt", "file:///docs/pay list.txt."],
  "file:///docs/l%C3%B6hne": ["file:///docs/l\u00f6hne", "file:///docs/lo\u0308hne", "file:///docs/lo%CC%88hne"],
  "https://pay.example": ["https://pay.example/"],
  "https://wages.example/": ["https://wages.example", "https://wages.example./", "https://me@wages.example/"],
  "notes://private/x": [
    "notes:private/x",
    "notes:/private/x",
    "notes:///private/x",
    "notes:////private/x",
    "notes://private:80/x",
    "notes://me@private/x",
  ],
  "notes:/drafts/x": ["notes://drafts/x", "notes:///drafts/x", "notes:drafts/x", "notes://drafts:80/x"],
};
const USERS = { eve: ["--user", "eve"], ann: ["--user", "ann"], bob: ["--user", "bob"] };

describeAttacks(
  "a block of one resource",
  { config: `${OPEN}${places.table}`, tokens: { ...ROOT, ...USERS } },
  (field) => {
    const read = async (as: string, era: string, uri: string) => {
      const { body, headers } = modern("resources/read", { uri });
      const older = { id: 1, method: "resources/read", params: { uri } };
      const sent =
        era === "2025" ? field.rpc(older, { as }) : field.rpc(JSON.parse(String(body)), { as, headers: headers ?? {} });
      return (await sent).messages.at(-1);
    };
    const reads = () => places.seen.split("resources/read").length;

    beforeAll(async () => {
      for (const uri of Object.keys(SPELLED)) {
        const own = { type: "user", id: "eve", server: "places", primitive: uri };
        const dotted = { type: "user", id: "ann", primitive: `places.${uri}` };
        for (const body of [own, dotted]) expect((await block(field, body)).status).toBe(201);
      }
      const [last = ""] = Object.keys(SPELLED).slice(-1);
      for (const as of ["eve", "ann"]) {
        for (const at of everywhere(field)) {
          const message = { id: 1, method: "resources/read", params: { uri: last } };
          const refused = async () => (await field.rpc(message, { as, at })).messages[0]?.error !== undefined;
          expect(await eventually(refused, (is) => is)).toBe(true);
        }
      }
    });

    test.each(["2025", "2026"])("lets others read it, and its caller read something else (%s)", async (era) => {
      for (const uri of ["file:///docs/pay%20roll.txt", "file:///docs/pay roll.txt", "notes:///private/x"])
        expect((await read("bob", era, uri))?.result).toBeDefined();
      for (const as of ["eve", "ann"]) expect((await read(as, era, "file:///docs/pub.txt"))?.result).toBeDefined();
    });

    const all = Object.entries(SPELLED).flatMap(([uri, others]) => [uri, ...others]);
    test.each(all)("is not left by %j", async (uri) => {
      const before = reads();
      for (const as of ["eve", "ann"])
        for (const era of ["2025", "2026"]) expect((await read(as, era, uri))?.error, `${as} ${era}`).toBeDefined();
      expect(reads()).toBe(before);
    });

    test("is in the decision that operators ask for, by each spelling", async () => {
      const { body } = await field.api(
        "GET",
        `/api/policy/orgs/default/decision?user=eve&server=places&primitive=${encodeURIComponent("file:///docs/pay roll.txt")}`,
        undefined,
        { as: "root" },
      );
      expect(body).toMatchObject({ effect: "deny", source: "block" });
    });
  },
);

const prefixed = `${OPEN}[[servers]]
id = "srv1"
prefix = "pay"
url = ${JSON.stringify(slow.url)}
era = "2025"
`;
const RUNNING = ["dotted", "own", "bare", "whole", "other"] as const;
const runners = Object.fromEntries(RUNNING.map((user) => [user, ["--user", user]]));

describeAttacks("a block of a tool", { config: prefixed, tokens: { ...ROOT, ...runners } }, (field) => {
  const begun = (who: string) => slow.begun.filter((one) => one === who).length;

  test.each<[string, (typeof RUNNING)[number], object]>([
    ["its name in lists", "dotted", { primitive: "pay.work" }],
    ["its server and its own name", "own", { server: "srv1", primitive: "work" }],
    ["its own name", "bare", { primitive: "work" }],
    ["its server", "whole", { server: "srv1" }],
  ])("ends calls that run, and no other's: by %s", async (_by, user, part) => {
    const who = [user, "other"].map((one) => `${one} of ${user} ${field.processes}`);
    const call = (as: string, name = "") => field.rpc(toolCall(1, "pay.work", { who: name }), { as, at: 0 });
    const [ended, other] = [call(user, who[0]), call("other", who[1])];
    for (const one of who) await expect.poll(() => begun(one)).toBe(1);
    expect((await block(field, { type: "user", id: user, ...part })).status).toBe(201);
    expect(JSON.stringify((await ended).messages.at(-1))).toContain("CANCELLED");
    await expect.poll(async () => JSON.stringify((await call(user)).messages)).toContain("error");
    slow.endAll();
    expect((await other).messages.at(-1)?.result).toBeDefined();
  });
});
