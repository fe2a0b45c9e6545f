/**
 * Policies over URIs of a scheme that not everybody knows: its server may take the host for the first segment of a path, or do without a
 * port, and so what a rule is about stands in many spellings.
 */
import { afterAll, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "places.notes://private/*"
effect = "deny"
[[access.rules]]
match = "places.notes://drafts/*"
effect = "confirm"
[[access.rules]]
match = "places.read"
when = 'has(args.uri) && glob(args.uri, "notes://private/*")'
effect = "deny"
[[access.rules]]
match = "places.touch"
when = 'has(args.path) && !glob(args.path, "user-*/*")'
effect = "deny"
[[limits]]
primitive = "places.notes://reports/*"
per = ["user"]
budget = 1
[gate]
evidence = "operator"
hold = "0s"
${places.table}`;

const tokens = { root: ["--user", "root", "--role", "admin"], ann: ["--user", "ann"], bob: ["--user", "bob"] };

const spellings = (place: string, name: string) => [
  `notes://./${place}/${name}`,
  `notes://x/../${place}/${name}`,
  `notes://../root/${place}/${name}`,
  `notes:///${place}/${name}`,
  `notes:////${place}/${name}`,
  `notes:/${place}/${name}`,
  `notes:${place}/${name}`,
  `notes:./${place}/${name}`,
  `notes://${place}:80/${name}`,
  `notes://${place}:/${name}`,
  `notes://${place}./${name}`,
  `notes://me@${place}/${name}`,
  `notes://me:pass@${place}/${name}`,
  `notes://%23@${place}/${name}`,
  `notes://%3f@${place}/${name}`,
  `notes://me%40${place}/${name}`,
  `notes://${place}:x/${name}`,
  `notes://%2e/${place}/${name}`,
  `notes://\uff0e/${place}/${name}`,
  `notes://.;x/${place}/${name}`,
  `notes://. /${place}/${name}`,
  `NOTES://${place}/${name}`,
];

describeAttacks("a policy over a scheme of a server's own", { config, tokens }, (field) => {
  const read = async (uri: string, as = "ann") =>
    (await field.rpc({ id: 1, method: "resources/read", params: { uri } }, { as })).messages[0];
  const isRefused = async (name: string, args: object) => {
    const before = calls();
    const [answer] = (await field.rpc(toolCall(1, `places.${name}`, args), { as: "ann" })).messages;
    expect(calls() > before).toBe(answer?.result !== undefined && answer.result.isError !== true);
    return calls() === before;
  };
  const calls = () => places.seen.split("tools/call").length;
  const reads = () => places.seen.split("resources/read").length;

  test("lets through what it allows", async () => {
    expect((await read("notes://public/a"))?.result).toBeDefined();
    expect((await read("notes:///public/a"))?.result).toBeDefined();
    expect(await isRefused("read", { uri: "notes://public/a" })).toBe(false);
    expect(await isRefused("touch", { path: "user-1/a.txt" })).toBe(false);
  });

  test.each([`notes://private/x`, ...spellings("private", "x")])("is not left by %j", async (uri) => {
    const before = reads();
    expect((await read(uri))?.error).toBeDefined();
    expect(reads()).toBe(before);
    expect(await isRefused("read", { uri })).toBe(true);
  });

  test.each([`notes://drafts/x`, ...spellings("drafts", "x")])("has %j wait for a yes, or refuses it", async (uri) => {
    const before = reads();
    expect((await read(uri))?.error).toBeDefined();
    expect(reads()).toBe(before);
  });

  test("counts every spelling, where it is not refused, as the one place", async () => {
    const before = reads();
    for (const uri of ["notes://reports/x", ...spellings("reports", "x")]) await read(uri, "bob");
    expect(reads()).toBe(before + 1);
  });

  test.each([
    "user-1/../admin/keys",
    "user-1://../admin/keys",
    "user-1://./../../admin/keys",
    "user-1:../admin/keys",
    "user-1:/../admin/keys",
  ])("about plain paths is not left by %j", async (path) => {
    expect(await isRefused("touch", { path })).toBe(true);
  });
});

const opened = `[auth]
tokens = true
[access]
defaultPolicy = "opt-in"
[[access.rules]]
match = "places.*"
when = "!has(args.force)"
effect = "allow"
[[access.rules]]
match = "places.notes://private/*"
effect = "deny"
[[access.rules]]
match = "places.notes://drafts/*"
effect = "confirm"
[gate]
evidence = "operator"
hold = "0s"
${places.table}`;

describeAttacks("a rule without conditions beside one that allows", { config: opened, tokens }, (field) => {
  const read = async (uri: string) =>
    (await field.rpc({ id: 1, method: "resources/read", params: { uri } }, { as: "ann" })).messages[0];
  const reads = () => places.seen.split("resources/read").length;

  test("lets through what is allowed", async () => {
    expect((await read("notes://public/a"))?.result).toBeDefined();
  });

  test.each(["private", "drafts"].flatMap((place) => [`notes://${place}/x`, ...spellings(place, "x")]))(
    "is not left by %j",
    async (uri) => {
      const before = reads();
      expect((await read(uri))?.error).toBeDefined();
      expect(reads()).toBe(before);
    },
  );
});
