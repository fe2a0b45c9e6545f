/** What was said about a template, and callers who want what is of it by another template or another spelling. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./parts/templates-server.mjs", import.meta.url));
const ACCEPT = "application/json, text/event-stream";
const BROAD_FIRST = ["file:///{+path}", "file:///private/{name}"];

function server(id: string, templates: readonly string[], values: readonly string[] = []): string {
  const args = [SERVER, JSON.stringify(templates), "[]", JSON.stringify(values)];
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`;
}

const FOLDERS = [
  "file:///{folder}/{name}",
  "file:///{folder}/{+rest}",
  "file:///{+path}",
  "file:///private/{name}",
  "file:///caf%C3%A9/{+rest}",
];

const denied = (primitive: string) => `[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = ${JSON.stringify(primitive)}
allowed = false
`;

const VALUES = ["private/x", "public/x", "private/caf%C3%A9", "private/x/"];
const ORDERS = { broad: BROAD_FIRST, exact: [...BROAD_FIRST].reverse() };
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${denied("broad.file:///private/{name}")}
${denied("exact.file:///private/{name}")}
${denied("words.file:///café/{name}")}
${denied("words.file:///my%20files/{name}")}
${denied("words.file:///dotted/{name}.{extension}")}
${denied("words.note://{+folder}/secret-{id}/text")}
[[access.exposure]]
server = "off"
primitive = "file:///private/{name}"
enabled = false
[[access.scopes]]
match = "scoped.file:///private/{name}"
scopes = ["private"]
[[access.rules]]
match = "ruled.file:///private/{name}"
effect = "deny"
[[access.rules]]
match = "asked.file:///private/{name}"
effect = "confirm"
[gate]
hold = "1s"
evidence = "operator"
${Object.entries(ORDERS)
  .map(([id, templates]) => server(id, templates, VALUES))
  .join("")}
${["off", "scoped", "ruled", "asked"].map((id) => server(id, BROAD_FIRST, VALUES)).join("")}
${denied("folders.file:///private/{name}")}
${denied("folders.file:///private")}
${denied("folders.file:///caf%C3%A9/{+rest}")}
${server("folders", FOLDERS, ["private", "public", "private.", "private%20", "café", "private.txt"])}
${server("words", [
  "file:///café/{name}",
  "file:///my%20files/{name}",
  "file:///dotted/{name}.{extension}",
  "note://{+folder}/secret-{id}/text",
  "note://{+any}",
])}`;

const tokens = { root: ["--user", "root", "--role", "admin"], ann: ["--user", "ann"], bob: ["--user", "bob"] };

describeAttacks("what was said about a template", { config, tokens }, (field) => {
  const ask = async (catalog: string, method: string, params: object, as = "ann") =>
    (await field.rpc({ id: 1, method, params }, { as, catalog })).messages.at(-1);
  const read = (catalog: string, uri: string, as?: string) => ask(catalog, "resources/read", { uri }, as);
  const readAsModern = async (catalog: string, uri: string) => {
    const { body = "", headers } = modern("resources/read", { uri });
    const all = { ...headers, ...field.as("ann"), "content-type": "application/json", accept: ACCEPT };
    const response = await fetch(`${field.origin()}/${catalog}/mcp`, { method: "POST", headers: all, body });
    return await response.text();
  };

  const SPELLINGS = ["file:///private/x", "file:///private/x/", "file:///private/caf%C3%A9", "file:///private./x"];
  const CLOSED = ["broad", "exact", "off", "scoped", "ruled", "asked"];

  test.each(CLOSED.flatMap((id) => SPELLINGS.map((uri) => [id, uri] as const)))(
    "holds at %s for %s, whichever template comes first",
    async (id, uri) => {
      expect((await read(id, uri))?.result).toBeUndefined();
      expect(await readAsModern(id, uri)).not.toContain("what it holds");
      expect((await ask(id, "resources/subscribe", { uri }))?.result).toBeUndefined();
    },
  );

  test.each(Object.keys(ORDERS))("keeps nothing else from anybody at %s", async (id) => {
    expect((await read(id, "file:///private/x", "bob"))?.result).toBeDefined();
    expect((await read(id, "file:///public/x"))?.result).toBeDefined();
    expect((await read(id, "file:///private"))?.result).toBeDefined();
    expect((await read(id, "file:///private/deep/x"))?.result).toBeDefined();
    expect(await readAsModern(id, "file:///public/x")).toContain("what it holds");
  });

  test("holds where a server's URIs have its name before them", async () => {
    for (const uri of SPELLINGS) expect((await read("", `off+${uri}`))?.result).toBeUndefined();
    expect((await read("", "off+file:///public/x"))?.result).toBeDefined();
  });

  test.each([
    "file:///café/x",
    "file:///caf%C3%A9/x",
    "file:///cafe\u0301/x",
    "file:///cafe%CC%81/x",
    "file:///my%20files/x",
    "file:///my files/x",
    "file:///my%20files/x/",
    "file:///my%20files./x",
    "file:///dotted/a.txt",
    "file:///dotted/.env.local",
    "note://a/secret-1/text",
    "note://a/secret-1/b/secret-2/text",
  ])("holds for the spelling %s", async (uri) => {
    expect((await read("words", uri))?.result).toBeUndefined();
    expect((await ask("words", "resources/subscribe", { uri }))?.result).toBeUndefined();
    expect((await read("words", uri, "bob"))?.result).toBeDefined();
  });

  test.each(["broad", "exact", "off", "scoped", "ruled"])("is what explain says of a URI at %s", async (id) => {
    for (const primitive of ["file:///private/x", "file:///private/caf%C3%A9", "file:///private/x/"]) {
      const body = { tenant: "default", user: "ann", server: id, primitive };
      const { body: said } = await field.api("POST", "/api/access/explain", body, { as: "root" });
      expect(said).toMatchObject({ effect: "deny", primitive: `${id}.${primitive}` });
      const query = `user=ann&server=${id}&primitive=${encodeURIComponent(primitive)}`;
      const decided = await field.api("GET", `/api/policy/orgs/default/decision?${query}`, undefined, { as: "root" });
      expect(decided.body).toMatchObject({ effect: "deny" });
    }
    const open = { tenant: "default", user: "ann", server: id, primitive: "file:///public/x" };
    const { body: said } = await field.api("POST", "/api/access/explain", open, { as: "root" });
    expect(said).toMatchObject({ effect: "allow" });
  });

  const complete = async (catalog: string, uri: string, name: string, as?: string) => {
    const params = { ref: { type: "ref/resource", uri }, argument: { name, value: "" } };
    return (await ask(catalog, "completion/complete", params, as))?.result?.completion;
  };

  test.each(["broad", "exact", "off", "scoped", "ruled"])(
    "is not told by the completion of another at %s",
    async (id) => {
      expect(await complete(id, "file:///{+path}", "path")).toEqual({ values: ["public/x"] });
      if (id === "broad" || id === "exact")
        expect(await complete(id, "file:///{+path}", "path", "bob")).toMatchObject({ values: VALUES });
    },
  );

  test.each([
    ["file:///{folder}/{name}", "folder", ["public", "private.txt"]],
    ["file:///{folder}/{+rest}", "folder", ["public", "private.txt"]],
    ["file:///{+path}", "path", ["public", "café", "private.txt"]],
  ])("is not told by the completion of a part of %s", async (uri, name, values) => {
    expect(await complete("folders", uri, name)).toEqual({ values });
  });

  test("wants the yes that explain says", async () => {
    const body = { tenant: "default", user: "ann", server: "asked", primitive: "file:///private/x" };
    const { body: said } = await field.api("POST", "/api/access/explain", body, { as: "root" });
    expect(said).toMatchObject({ effect: "confirm", evidence: "operator" });
  });
});
