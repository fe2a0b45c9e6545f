import { afterAll, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const config = `[auth]
tokens = true
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.https://h.example/api/pub/*"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.https://{+rest}"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.read"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "places.*"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "places.https://intranet/*"
allowed = false
[[access.bindings]]
target = { type = "user", pattern = "eve" }
primitive = "places.https://*.corp.example/*"
[[access.bindings]]
target = { type = "user", pattern = "eve" }
primitive = "places.https://{+rest}"
[[access.bindings]]
target = { type = "user", pattern = "eve" }
primitive = "places.read"
[[access.rules]]
match = "places.read"
when = 'principal.user == "eve" && !glob(args.url, "https://*.corp.example/*")'
effect = "deny"
[[access.rules]]
match = "places.read"
when = 'principal.user == "bob" && glob(args.url, "https://intranet/*")'
effect = "deny"
[[access.rules]]
match = "places.read"
when = 'principal.user == "ann" && !glob(args.url, "https://h.example/api/pub/*")'
effect = "deny"
${places.table}`;

const tokens = { ann: ["--user", "ann"], bob: ["--user", "bob"], eve: ["--user", "eve"] };

/** What a server requests at `/api/`, or beyond. */
const AROUND = [
  "https://h.example/api/pub/..?op=delete&all",
  "https://h.example/api/pub/..?",
  "https://h.example/api/pub/..#x",
  "https://h.example/api/pub/.. ?x",
  "https://h.example/api/pub/..?/../x",
  "https://h.example/api/pub/..;x?op=delete",
  "https://h.example/api/pub/..%3fop=delete",
  "https://h.example/api/pub/..%23x",
  "https://h.example/api/pub/..%3bx",
  "https://h.example/api/pub/%2e%2e?op=delete",
];

/** All of them the denied host to a server that makes a URL of them. */
const RESPELLED = [
  "https://intranet/secret",
  "https:///intranet/secret",
  "https:////intranet/secret",
  "https:/intranet/secret",
  "https:intranet/secret",
  "https://intranet:443/secret",
  "https://intranet:0443/secret",
  "https://intranet:/secret",
  "https://x@intranet/secret",
  "https://@intranet/secret",
  "https://:@intranet/secret",
  "https://intr\u00adanet/secret",
  "https://ｉntranet/secret",
  "https://intranet./secret",
  "https://INTRANET/secret",
  "https://intranet",
  "https://intranet?/secret",
  " https://intranet/secret",
  "https://intra\tnet/secret",
  "https:\\\\intranet\\secret",
];

/** Other hosts, with what the pattern asks for behind them. */
const BEHIND = [
  "https://evil.test/a.corp.example/x",
  "https://evil.test/?.corp.example/x",
  "https://evil.test?.corp.example/x",
  "https://evil.test/x/.corp.example/",
];

describeAttacks("a policy over addresses", { config, tokens }, (field) => {
  /** By read, by subscription and as a tool's argument: what each of them is answered. */
  const reach = async (url: string, as: string) => {
    const asked = [
      { id: 1, method: "resources/read", params: { uri: url } },
      { id: 2, method: "resources/subscribe", params: { uri: url } },
      toolCall(3, "places.read", { url }),
    ];
    const answers = [];
    for (const message of asked) answers.push((await field.rpc(message, { as })).messages[0]);
    return answers;
  };
  const sent = () => places.seen.split(/resources\/(?:read|subscribe)|tools\/call/).length - 1;

  const refuses = async (url: string, as: string) => {
    const before = sent();
    for (const answer of await reach(url, as)) expect(answer?.result?.isError ?? answer?.error).toBeTruthy();
    expect(sent()).toBe(before);
  };

  test("lets through what it allows", async () => {
    const before = sent();
    const [read, , called] = await reach("https://h.example/api/pub/a?x=..", "ann");
    expect([read?.result, called?.result?.isError ?? false]).toEqual([expect.anything(), false]);
    expect(sent()).toBeGreaterThan(before + 1);
  });

  test.each(AROUND)("is not left by %j", (url) => refuses(url, "ann"));

  test.each(RESPELLED)("is not left by the spelling %j", (url) => refuses(url, "bob"));

  test.each(BEHIND)("is not at the hosts that it allows: %j", (url) => refuses(url, "eve"));

  test("is at each of the hosts that it allows", async () => {
    const [read, , called] = await reach("https://a.corp.example/x", "eve");
    expect(read?.result).toBeDefined();
    expect(called?.result).toMatchObject({ content: [{ text: "done" }] });
  });

  test("says why it takes a spelling for none", async () => {
    const [read, , called] = await reach("https://x@intranet/secret", "bob");
    expect(read?.error?.message).toContain("it names a user before the host");
    expect(JSON.stringify(called)).toContain("it names a user before the host");
  });

  test.each(["https://h.example", "https://h.example:8443/a#part", "https://127.0.0.1/a"])(
    "lets %j through, which it does not deny",
    async (url) => {
      const before = sent();
      const [, , called] = await reach(url, "bob");
      expect(called?.result).toMatchObject({ content: [{ text: "done" }] });
      expect(sent()).toBeGreaterThan(before);
    },
  );
});
