import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TrailWatch } from "../../kit/attack-trace.ts";
import { freePort, Workspace } from "../identity/workspace.ts";
import { helloServer } from "../kit/gateway.ts";
import { Program } from "../kit/program.ts";
import { openSession, post, StdioClient, toolCall } from "../kit/rpc.ts";
import { GRANT, isAnswered, Listener, namesIn, Rig } from "./access-rig.ts";

const RULES = `
[audit]
[[access.rules]]
match = "files.drop"
when = 'glob(args.path, "/etc/*")'
effect = "deny"

[[access.scopes]]
match = "docs.drop"
scopes = ["docs:write"]
`;

describe("a policy that is changed while the gateway runs", () => {
  const rig = new Rig(RULES);
  beforeAll(() => rig.open());
  afterAll(() => rig.place[Symbol.asyncDispose]());
  const trail = new TrailWatch({
    origin: () => rig.origin,
    headers: () => rig.as("admin"),
    secrets: () => [...Object.values(rig.tokens), "/etc/passwd"],
  });

  test("[MG-102][MG-103][MG-104][MG-105] is in force with the answer: grant, a closer grant, and back", async () => {
    expect(await rig.tools("ann")).toEqual([]);
    expect((await rig.api("POST", "/api/access/grant", GRANT)).status).toBe(200);
    expect(await rig.tools("ann")).toEqual(["files.show", "files.drop"]);
    expect(await rig.tools("bob")).toEqual([]);
    await rig.api("POST", "/api/access/grant", {
      ...GRANT,
      entry_type: "tool_grant",
      tool_name: "drop",
      permission: "deny",
    });
    expect(await rig.tools("ann")).toEqual(["files.show"]);
    expect(isAnswered(await rig.call("ann", "files.show"))).toBe(true);
    expect((await rig.call("ann", "files.drop")).message?.error).toMatchObject({
      code: -32601,
      message: "Unknown tool: files.drop",
    });
    await rig.api("POST", "/api/access/revoke", { ...GRANT, entry_type: "tool_grant", tool_name: "drop" });
    expect(await rig.tools("ann")).toEqual(["files.show", "files.drop"]);
  });

  test("does not answer a repeat of a call that may not be made any more", async () => {
    const once = { "idempotency-key": "once-1" };
    expect(isAnswered(await rig.call("ann", "files.show", {}, once))).toBe(true);
    await rig.api("POST", "/api/access/grant", { ...GRANT, permission: "deny" });
    const repeat = () => rig.call("ann", "files.show", {}, once);
    const blocked = { type: "TOOL_BLOCKED", why: "server_grant", server: "files", name: "show" };
    expect((await trail.attack(repeat, blocked)).message?.error?.code).toBe(-32601);
    await rig.api("POST", "/api/access/grant", GRANT);
    expect(isAnswered(await rig.call("ann", "files.show", {}, once))).toBe(true);
  });

  test("judges arguments, also those that could be read in two ways, before anything is sent", async () => {
    expect(isAnswered(await rig.call("ann", "files.drop", { path: "/tmp/a" }))).toBe(true);
    const blocked = { type: "TOOL_BLOCKED", server: "files", name: "drop" };
    const drop = () => rig.call("ann", "files.drop", { path: "/etc/passwd" });
    const denied = await trail.attack(drop, { ...blocked, why: "NOT_ALLOWED" });
    expect(denied.message?.result).toMatchObject({
      isError: true,
      _meta: { "dev.isthmus/error": { code: "NOT_ALLOWED" } },
    });
    const bodies = [
      ["BAD_CALL", '{"path":"/tmp/a","path":"/etc/b"}'],
      ["BAD_CALL", '{"path":"/etc/b","path":"/tmp/a"}'],
      ["BAD_CALL", '{"path":"/tmp/a","p\\u0061th":"/etc/b"}'],
      ["NOT_ALLOWED", '{"other":1}'],
      ["NOT_ALLOWED", '{"path":["/etc/b"]}'],
    ] as const;
    for (const [why, body] of bodies) {
      const send = () =>
        fetch(`${rig.origin}/mcp`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...rig.as("ann"),
          },
          body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files.drop","arguments":${body}}}`,
        });
      const response = await trail.attack(send, { ...blocked, why });
      expect(await response.text(), body).toMatch(/"isError":true|"error":/);
    }
    expect(readFileSync(rig.seen, "utf8")).not.toContain("/etc/");
  });

  test("[AP-529][AP-530] is changed by admins only, in the version they saw, each change on record", async () => {
    const path = "/api/policy/orgs/default/exposure";
    const off = { server: "docs", protocol: "mcp", enabled: false };
    const forbidden = { type: "dev.isthmus.request_refused", why: "role" };
    for (const user of ["ann", "bob"] as const) {
      const change = () => rig.api("PUT", path, off, rig.as(user));
      expect((await trail.attack(change, { ...forbidden, name: `PUT ${path}` })).status).toBe(403);
    }
    const grant = () => rig.api("POST", "/api/access/grant", { ...GRANT, agent_id: "bob" }, rig.as("bob"));
    expect((await trail.attack(grant, { ...forbidden, name: "POST /api/access/grant" })).status).toBe(403);
    const { etag } = await rig.api("GET", path);
    expect((await rig.api("PUT", path, off, { ...rig.as("admin"), "if-match": etag })).status).toBe(200);
    expect((await rig.api("PUT", path, off, { ...rig.as("admin"), "if-match": etag })).status).toBe(412);
    expect((await rig.api("PUT", path, { ...off, enabled: true })).status).toBe(200);
  });

  test("asks for a scope that a token lacks, and shows what it would be good for", async () => {
    await rig.api("POST", "/api/access/grant", { ...GRANT, server_id: "docs" });
    expect(await rig.tools("ann")).toContain("docs.drop");
    const blocked = { type: "TOOL_BLOCKED", why: "NOT_ALLOWED", server: "docs", name: "drop" };
    const refused = await trail.attack(() => rig.call("ann", "docs.drop"), blocked);
    expect(isAnswered(refused)).toBe(false);
    expect(JSON.stringify(refused)).toContain("docs:write");
    expect(
      readFileSync(rig.seen, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("docs") && line.includes('"drop"')),
    ).toEqual([]);
  });

  test("leaves a record of each refusal and each change, and of no argument's value", async () => {
    const query = async (...flags: string[]) => {
      const words = ["audit", "query", ...flags, "--limit", "100", "--url", rig.origin, "--json"];
      const { stdout } = await rig.place.run(words, { ISTHMUS_TOKEN: rig.tokens.admin });
      return stdout;
    };
    await rig.call("bob", "files.show", { secret: "a value" });
    const blocked = await query("--type", "TOOL_BLOCKED");
    expect(blocked).toContain('"concealed":true');
    expect(blocked).toContain('"source":"rule"');
    expect(blocked).not.toMatch(/\/etc\/|a value/);
    expect(await query("--type", "ACCESS_GRANTED")).toContain("server_grant");
    expect(await query("--type", "ACCESS_REVOKED")).toContain("tool_grant");
    expect(await query("--type", "dev.isthmus.policy_changed")).toContain("exposure");
  });

  test("is not got around by somebody else's session", async () => {
    const session = await openSession(`${rig.origin}/mcp`, {}, rig.as("ann"));
    for (const message of [toolCall(1, "files.show", {}), { id: 2, method: "tools/list" }]) {
      const send = () => post(`${rig.origin}/mcp`, message, { ...session, ...rig.as("bob") });
      const { status, messages } = await trail.attack(send, { type: "dev.isthmus.request_refused", why: "session" });
      expect([status, messages[0]?.result]).toEqual([404, undefined]);
    }
  });

  test("says why, step by step, on the command line", async () => {
    const flags = ["--url", rig.origin];
    const env = { ISTHMUS_TOKEN: rig.tokens.admin };
    const explain = (...words: string[]) => rig.place.run(["explain", ...words, ...flags], env);
    expect((await explain("ann", "files.show")).stdout).toContain(
      'ann may call files.show: granted to agent "ann" on server "files"',
    );
    expect((await explain("bob", "files.show")).stdout).toContain("bob may not call files.show");
    const { stdout } = await explain("ann", "files.drop", "--args", '{"path":"/etc/x"}', "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      effect: "deny",
      source: "rule",
      steps: expect.arrayContaining([{ step: "grant", effect: "allow", reason: expect.any(String) }]),
    });
  });

  test("[AP-550] is there again after the process was killed", async () => {
    const before = await rig.tools("ann");
    expect(before.length).toBeGreaterThan(0);
    await rig.place.kill();
    rig.origin = await rig.place.up("127.0.0.1:0");
    expect(await rig.tools("ann")).toEqual(before);
  });
});

describe("a policy under which nobody has seen anything yet", () => {
  const rig = new Rig("");
  beforeAll(() => rig.open());
  afterAll(() => rig.place[Symbol.asyncDispose]());

  test("tells the sessions whose lists change, and no others", async () => {
    await using ann = await Listener.open(rig, "ann");
    await using bob = await Listener.open(rig, "bob");
    const changed = "notifications/tools/list_changed";
    await rig.api("POST", "/api/access/grant", GRANT);
    await expect.poll(() => ann.count(changed), { timeout: 10_000 }).toBe(1);
    await rig.api("POST", "/api/access/revoke", GRANT);
    await expect.poll(() => ann.count(changed), { timeout: 10_000 }).toBe(2);
    expect(bob.count(changed)).toBe(0);
  });

  test("keeps what a server says from whoever may not reach it any more", async () => {
    const other = { ...GRANT, agent_id: "bob" };
    for (const grant of [GRANT, other]) await rig.api("POST", "/api/access/grant", grant);
    await using ann = await Listener.open(rig, "ann");
    const subscribe = { id: 2, method: "resources/subscribe", params: { uri: "note://today" } };
    expect((await post(`${rig.origin}/mcp`, subscribe, ann.session)).messages[0]?.error).toBeUndefined();
    const updated = "notifications/resources/updated";
    await rig.call("bob", "files.drop");
    await expect.poll(() => ann.count(updated), { timeout: 10_000 }).toBe(1);
    await rig.api("POST", "/api/access/revoke", GRANT);
    await rig.call("bob", "files.drop");
    await rig.api("POST", "/api/access/grant", GRANT);
    // What was taken back does not come again by itself.
    await rig.call("bob", "files.drop");
    expect((await post(`${rig.origin}/mcp`, { ...subscribe, id: 3 }, ann.session)).messages[0]?.error).toBeUndefined();
    await rig.call("bob", "files.drop");
    await expect.poll(() => ann.count(updated), { timeout: 10_000 }).toBe(2);
    for (const grant of [GRANT, other]) await rig.api("POST", "/api/access/revoke", grant);
  });
});

describe("a policy for the local user", () => {
  const ACCESS = `[access]\nconceal = false\n[[access.exposure]]\nserver = "docs"\nenabled = false\n[[access.bindings]]\ntarget = { type = "user", pattern = "local" }\nprimitive = "files.drop"\nallowed = false\n`;
  const rig = new Rig(ACCESS, "");
  afterAll(() => rig.place[Symbol.asyncDispose]());

  test("holds on stdio as it does over HTTP, and says that something is not allowed where nothing is concealed", async () => {
    await using program = new Program(["stdio", "--config", join(rig.place.folder, "isthmus.toml")], {});
    const client = new StdioClient(program);
    await client.open();
    expect(namesIn(await client.ask({ id: 1, method: "tools/list" }))).toEqual(["files.show"]);
    const refused = await client.ask(toolCall(2, "files.drop", {}));
    expect(refused.result).toMatchObject({ isError: true, _meta: { "dev.isthmus/error": { code: "NOT_ALLOWED" } } });
    expect((await client.ask(toolCall(3, "files.show", {}))).result).toMatchObject({
      content: [{ text: "answered by files" }],
    });
    expect((await client.ask({ id: 4, method: "x/raw" })).error?.code).toBe(-32601);
    expect(readFileSync(rig.seen, "utf8")).not.toContain('"drop"');
  });

  test.each([
    ["", "opt-out", "only the local user", ["hello.greet"]],
    ['[access]\ndefaultPolicy = "opt-in"\n', "opt-in", "set in [access]", []],
  ])(
    "and [auth] leave the client of stdio the local user, and the log says what that one may (%j)",
    async (more, policy, why, names) => {
      const config = `[auth]\ntokens = true\n${more}${helloServer()}`;
      await using program = new Program(["stdio"], { config });
      const client = new StdioClient(program);
      await client.open();
      const listed = namesIn(await client.ask({ id: 1, method: "tools/list" }));
      expect(listed).toEqual(names.length > 0 ? expect.arrayContaining(names) : []);
      const line = () => program.stderr.split("\n").find((text) => text.includes("default access policy")) ?? "{}";
      await expect.poll(() => JSON.parse(line())).toMatchObject({ policy, why });
    },
  );

  test("is another one when the file is", async () => {
    rig.origin = await rig.place.up("127.0.0.1:0");
    const listed = async () => namesIn((await post(`${rig.origin}/mcp`, { id: 1, method: "tools/list" })).messages[0]);
    expect(await listed()).toEqual(["files.show"]);
    const config = readFileSync(join(rig.place.folder, "isthmus.toml"), "utf8");
    rig.place.write("isthmus.toml", config.replace("enabled = false", "enabled = true"));
    await expect.poll(listed, { timeout: 10_000 }).toEqual(["files.show", "docs.show", "docs.drop"]);
    rig.place.write("isthmus.toml", config.replace('"files.drop"', '"flies.drop"'));
    await expect.poll(() => rig.place.log, { timeout: 10_000 }).toContain("flies.drop");
    expect(await listed()).toEqual(["files.show", "docs.show", "docs.drop"]);
    rig.place.write("isthmus.toml", config);
    await expect.poll(listed, { timeout: 10_000 }).toEqual(["files.show"]);
    await rig.place.kill();
  });

  test("is explained from the config alone where no gateway runs", async () => {
    // Somebody else on this machine may have the default address.
    const nowhere = { ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` };
    const explain = (...args: string[]) => rig.place.run(["explain", ...args], nowhere);
    const { stdout } = await explain("local", "files.drop", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ effect: "deny", source: "binding", server: "files" });
    const other = await explain("ann", "files.show");
    expect(other.stdout).toContain('ann may not call files.show: the default policy of server "files" is opt-in');
    expect((await explain("local", "nothing.here")).code).toBe(1);
    expect((await explain("local", "files.drop", "--args", "no")).code).toBe(2);
  });
});

test("a gateway does not start with a policy of which it cannot read a row, and says which", async () => {
  await using place = new Workspace("[auth]\ntokens = true\n[[servers]]\nid = 'x'\nurl = 'http://127.0.0.1:9/mcp'\n");
  await place.createToken("--user", "ann");
  const database = new DatabaseSync(join(place.folder, ".isthmus/isthmus.db"));
  database.exec(
    "INSERT INTO policy (tenant, kind, \"key\", value, updated_at, updated_by) VALUES ('default', 'grant', 'k1', '{}', 1, 'x')",
  );
  database.exec("UPDATE policy_version SET version = version + 1");
  database.close();
  const { code, stderr } = await place.run(["up", "--listen", "127.0.0.1:0"]);
  expect([code, stderr]).toEqual([10, expect.stringContaining('{"tenant":"default","kind":"grant","key":"k1"}')]);
});
