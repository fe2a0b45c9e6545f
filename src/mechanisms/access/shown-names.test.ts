import { expect, test } from "vitest";
import { PolicyRig } from "../../../tests/kit/policy-rig.ts";
import { type NameUse, namesMeant, namesOfNothing, usesIn } from "./shown-names.ts";

const OFFERED = [
  { server: "files", name: "a b", dotted: "files.a_b", shown: "files.a_b" },
  { server: "files", name: "a_b", dotted: "files.a_b", shown: "files.a_b_2" },
  { server: "mail", name: "send", dotted: "mail.send", shown: "mail__send" },
];

const serverOf = (dotted: string) => ["files", "mail"].find((server) => dotted.startsWith(`${server}.`));
const nothing = (...uses: NameUse[]) => namesOfNothing(uses, OFFERED, serverOf);

test("a name that only lists have leads to those that rules have", () => {
  expect(namesMeant({ name: "files.a_b_2" }, OFFERED)).toEqual(["files.a_b"]);
  expect(namesMeant({ name: "mail__send" }, OFFERED)).toEqual(["mail.send"]);
  for (const known of ["files.a_b", "mail.send", "send", "mail.*", "*", "later.tool"])
    expect(namesMeant({ name: known }, OFFERED), known).toEqual([]);
});

test("a name that looks like another server's is its own only beside its server", () => {
  const bare = { server: "bare", name: "mail.send", dotted: "bare.mail.send", shown: "mail.send" };
  expect(namesMeant({ name: "mail.send" }, [bare])).toEqual(["bare.mail.send"]);
  for (const use of [{ name: "bare.mail.send" }, { name: "mail.send", server: "bare", isOwn: true }])
    expect(namesMeant(use, [bare])).toEqual([]);
});

test.each<[string, NameUse, readonly string[]]>([
  ["a grant", { server: "files", name: "a_b_2", isOwn: true }, ["a_b"]],
  ["a grant by the dotted name", { server: "mail", name: "mail.send", isOwn: true }, ["send"]],
  ["a grant by the name with underscores", { server: "mail", name: "mail__send", isOwn: true }, ["send"]],
  ["a grant for all servers", { server: "*", name: "a_b_2", isOwn: true }, ["files.a_b"]],
  ["a switch", { server: "files", name: "a_b_2" }, ["a_b"]],
  ["a switch by the whole name", { server: "files", name: "files.a_b_2" }, ["a_b"]],
  ["a rule or limit", { name: "files.a_b_2" }, ["files.a_b"]],
  ["a typing mistake in a grant", { server: "mail", name: "sned", isOwn: true }, []],
  ["a typing mistake in a switch, of a name that another server has", { server: "files", name: "send" }, []],
  ["a typing mistake in a rule", { name: "mail.sned" }, []],
])("%s is told of that is about nothing", (_name, use, meant) => {
  const { name, server } = use;
  expect(nothing(use, use)).toEqual([{ name, ...(server !== undefined && { server }), meant }]);
});

test.each<[string, NameUse]>([
  ["what is there", { server: "files", name: "a b", isOwn: true }],
  ["what is there, by the dotted name", { server: "files", name: "files.a_b" }],
  ["what any server has", { server: "*", name: "send", isOwn: true }],
  ["patterns", { name: "mail.sned*" }],
  ["a whole server", { server: "mail", name: "", isOwn: true }],
  ["a server that offers nothing yet", { server: "later", name: "tool", isOwn: true }],
  ["a name of such a server", { name: "later.tool" }],
  ["a URI, which a template may lead to", { server: "files", name: "file:///x" }],
])("nothing is told of %s", (_name, use) => expect(nothing(use)).toEqual([]));

test("of a policy those are found that are about nothing", () => {
  const row = { tenant: "*", protocol: "*" };
  const bindings = ["files.a_b_2", "mail.send"].map((primitive) => ({
    ...row,
    target: { type: "user" as const, pattern: "*" },
    primitive,
    allowed: false,
  }));
  const exposures = [{ ...row, server: "mail", primitive: "mail__send", enabled: false }];
  const uses = usesIn({ grants: [], bindings, exposures, scopes: [{ match: "mail.x", scopes: [] }], rules: [] });
  expect(nothing(...uses).map(({ name }) => name)).toEqual(["files.a_b_2", "mail__send", "mail.x"]);
});

test("operations refuse a name that would be about nothing, and say which one is meant", async () => {
  const rig = new PolicyRig();
  rig.primitives = OFFERED.map((one) => ({ ...one, kind: "tool" as const }));
  const binding = { target: { type: "user", idOrPattern: "*" }, primitive: { name: "files.a_b_2" }, allowed: false };
  const tries: readonly [string, object][] = [
    ["policy.bindings.put", { orgId: "default", body: binding }],
    [
      "policy.exposure.put",
      { orgId: "default", body: { server: "mail", protocol: "mcp", primitive: "mail__send", enabled: false } },
    ],
    [
      "policy.exposure.put",
      { orgId: "default", body: { server: "files", protocol: "mcp", primitive: "a_b_2", enabled: false } },
    ],
    ["access.grant", { body: { entry_type: "tool_grant", agent_id: "a", server_id: "mail", tool_name: "mail__send" } }],
    ["access.grant", { body: { entry_type: "tool_grant", agent_id: "a", server_id: "files", tool_name: "a_b_2" } }],
  ];
  for (const [id, input] of tries)
    await expect(rig.do(id, input), id).rejects.toMatchObject({
      code: "BAD_CALL",
      message: expect.stringMatching(/"(files\.a_b|a_b|mail\.send|send)"/),
    });
  expect(rig.policy.version).toBe(0);
});
