/** Revocations that somebody believes in, and that would hold for nothing: patterns, prefixes, names that only lists have. */
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const FEED = generateKeyPairSync("ed25519");
const config = `[auth]
tokens = true
[[auth.revocationFeeds]]
id = "hub"
keys = ["""
${FEED.publicKey.export({ type: "spki", format: "pem" })}"""]
[access]
defaultPolicy = "opt-out"
[[access.exposure]]
server = "hidden"
tenant = "acme"
enabled = false
${helloServer("files")}${helloServer("hidden")}${helloServer("srv1", 'prefix = "pay"')}${helloServer("late", "disabled = true")}
[[servers]]
id = "away"
url = "http://127.0.0.1:9/mcp"
[[catalogs]]
id = "cat"
include = ["files.*"]
`;
const USERS = ["eve", "ann", "bob", "s1", "s2", "s3", "s4", "s5"];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  boss: ["--user", "boss", "--role", "admin", "--tenant", "acme"],
  ...Object.fromEntries(USERS.map((user) => [user, ["--user", user]])),
};

/** What the feed has signed. */
function signedBy(said: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { ...said, jti: randomUUID(), iat: Math.floor(Date.now() / 1000) };
  const text = `${encode({ typ: "isthmus-revocation+jwt", alg: "EdDSA" })}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), FEED.privateKey).toString("base64url")}`;
}

const options = { config, tokens, gateway: 'naming = "underscore"' };
describeAttacks("a revocation that would hold for nothing", options, (field) => {
  const block = (body: object, as = "root") => field.api("POST", "/api/revocations", { type: "user", ...body }, { as });
  const blocked = async () =>
    JSON.stringify((await field.api("GET", "/api/orgs/default/blocks", undefined, { as: "root" })).body);
  /** Of its greetings, those that a caller gets at every process. */
  const usable = async (as: string) => {
    const names = ["files__greet", "pay__greet", "hidden__greet"];
    const places = Array.from({ length: field.processes }, (_, at) => at);
    const uses = names.map(async (name) => {
      const calls = places.map((at) => field.rpc(toolCall(1, name, { name: "x" }), { as, at }));
      const answers = await Promise.all(calls);
      return answers.every(({ messages }) => messages.at(-1)?.result !== undefined) ? [name] : [];
    });
    return (await Promise.all(uses)).flat();
  };

  test.each<[what: string, place: object, told: string]>([
    ["every server", { server: "*" }, "leave `server` out"],
    ["a pattern of servers", { server: "fil*" }, "one for each"],
    ["no server", { server: "filez" }, "no server has this id"],
    ["a catalog", { server: "cat" }, "no server has this id"],
    ["what a server's names begin with", { server: "pay" }, "srv1"],
    ["every primitive", { server: "files", primitive: "*" }, "leave `primitive` out"],
    ["all of a server", { primitive: "files.*" }, "files"],
    ["a pattern of primitives", { primitive: "files.gr*" }, "one for each"],
    ["a name that only lists have", { primitive: "files__greet" }, "files.greet"],
    ["a URI that is never judged", { primitive: "files.FILE:///x/y" }, "files.file:///x/y"],
  ])("is refused with what to write: %s", async (_what, place, told) => {
    const before = await blocked();
    const refused = await block({ id: "eve", ...place });
    expect(refused.status).toBe(422);
    expect((refused.body as { detail: string }).detail).toContain(told);
    expect(await blocked()).toBe(before);
    expect(await usable("eve")).toEqual(["files__greet", "pay__greet", "hidden__greet"]);
  });

  test("holds as it is told to write it", async () => {
    expect((await block({ id: "ann", server: "srv1" })).status).toBe(201);
    expect(await block({ id: "ann", primitive: "files.greet" })).toMatchObject({ body: { isOffered: true } });
    await expect.poll(() => usable("ann")).toEqual(["hidden__greet"]);
  });

  test("is taken where it may hold later, and says that nothing has that name now", async () => {
    expect(await block({ id: "bob", primitive: "files.later" })).toMatchObject({
      status: 201,
      body: { isOffered: false },
    });
    await expect.poll(() => field.log()).toContain("a block is about a name that nothing has now");
    for (const server of ["away", "late"]) {
      const { status, body } = await block({ id: "bob", server, primitive: "any" });
      expect([status, Object.keys(body as object)]).toEqual([201, expect.not.arrayContaining(["isOffered"])]);
    }
  });

  test("tells a tenant's operator nothing of servers that it does not see", async () => {
    const answers = await Promise.all(
      ["none", "hidden"].map((server) => block({ id: "u", server, primitive: "greet" }, "boss")),
    );
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
    for (const primitive of ["hidden__greet", "none__greet"])
      expect(await block({ id: "u", primitive }, "boss")).toMatchObject({ status: 201, body: { isOffered: false } });
  });

  const send = (said: object) =>
    field.api("POST", "/api/revocations/signed", { jws: signedBy({ type: "user", ...said }) });
  test.each<[user: string, place: object, left: string[]]>([
    ["s1", { server: "pay" }, ["files__greet", "hidden__greet"]],
    ["s2", { primitive: "pay.*" }, ["files__greet", "hidden__greet"]],
    ["s3", { primitive: "files__greet" }, ["pay__greet", "hidden__greet"]],
    ["s4", { server: "files", primitive: "*" }, ["pay__greet", "hidden__greet"]],
  ])("holds as it is meant where a feed has signed it: %s %j", async (id, place, left) => {
    expect((await send({ id, ...place })).status).toBe(201);
    await expect.poll(() => usable(id)).toEqual(left);
    expect(field.log()).toContain("a signed revocation is written as none is, and taken as meant");
  });

  test("is kept where a feed has signed it for a server that is not there yet, and refused where it never will hold", async () => {
    expect((await send({ id: "s5", server: "filez" })).status).toBe(201);
    await expect.poll(blocked).toContain('"server":"filez"');
    const refused = await send({ id: "s5", primitive: "files.gr*" });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("one for each")]);
    await expect.poll(() => field.log()).toMatch(/a signed revocation holds for nothing now.*no server has this id/);
    await expect.poll(() => field.log()).toMatch(/a signed revocation cannot be taken.*one for each/);
  });
});
