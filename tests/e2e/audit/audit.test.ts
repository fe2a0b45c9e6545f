import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test, vi } from "vitest";
import { helloServer } from "../kit/gateway.ts";
import { type AuditEvent, AuditRig } from "./audit-rig.ts";

const TRACE = "aaaaaaaa-0000-4000-8000-000000000001";

const named = (events: readonly AuditEvent[]) => events.map(({ event_type, target }) => [event_type, target.tool_name]);

describe("the audit trail of a gateway", () => {
  test("has every call and what happens to servers, and is searched over the API [MG-126] [MG-137] [MG-144] [MG-136]", async () => {
    await using rig = new AuditRig();
    await rig.start();
    await rig.call("echo.who", {}, { trace_id: TRACE });
    await rig.call("echo.who");
    await rig.call("echo.secretive");
    await vi.waitFor(async () => expect(await rig.events()).toHaveLength(4));
    expect(named(await rig.events())).toEqual([
      ["TOOL_EXECUTED", "secretive"],
      ["TOOL_EXECUTED", "who"],
      ["TOOL_EXECUTED", "who"],
      ["SERVER_CONNECTED", ""],
    ]);
    expect(await rig.events(`trace_id=${TRACE}`)).toMatchObject([
      { trace_id: TRACE, actor: { type: "agent", id: "local" }, target: { server_id: "echo", tool_name: "who" } },
    ]);
    expect(await rig.events("server_id=echo&tool_name=who")).toHaveLength(2);
    expect(await rig.events("event_type=SERVER_CONNECTED&agent_id=isthmus")).toHaveLength(1);
    expect(await rig.events("agent_id=nobody")).toEqual([]);
    expect(await rig.events("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")).toEqual([]);
    const [first] = await rig.events("limit=1");
    const { next } = (await (await fetch(`${rig.gateway.origin}/api/audit?limit=1`)).json()) as { next: string };
    expect(first).toMatchObject({ target: { tool_name: "secretive" } });
    expect(named(await rig.events(`limit=1&cursor=${next}`))).toEqual([["TOOL_EXECUTED", "who"]]);
  });

  test.each(["limit=0", "limit=5000", "from=yesterday", "cursor=x", "unknown=1", "result=MAYBE"])(
    "refuses a question that it cannot understand: %s",
    async (query) => {
      await using rig = new AuditRig();
      await rig.start();
      const { status } = await fetch(`${rig.gateway.origin}/api/audit?${query}`);
      expect([400, 422]).toContain(status);
    },
  );

  test("tells of a config that is taken over, by a name of its own [MG-130] [MG-148]", async () => {
    await using rig = new AuditRig();
    const { program } = await rig.start();
    writeFileSync(join(program.folder, "isthmus.toml"), rig.config.replace('"secretive"]', '"another"]'));
    await vi.waitFor(
      async () =>
        expect(await rig.events("event_type=dev.isthmus.config.reloaded")).toMatchObject([
          { actor: { type: "kernel", id: "isthmus" }, details: { changed: ["echo"] } },
        ]),
      { timeout: 10_000 },
    );
  });

  test("tells that a server was lost [MG-145]", async () => {
    await using rig = new AuditRig();
    await rig.start();
    const answer = await rig.call("echo.who");
    const [first] = (answer?.result?.content ?? []) as { text: string }[];
    process.kill((JSON.parse(first?.text ?? "") as { pid: number }).pid, "SIGKILL");
    await vi.waitFor(async () =>
      expect(await rig.events("event_type=SERVER_DISCONNECTED")).toMatchObject([{ target: { server_id: "echo" } }]),
    );
  });

  test("finds what one trace did on several servers [MG-151]", async () => {
    await using rig = new AuditRig(`${helloServer()}\n[audit]\n`);
    await rig.start();
    await rig.call("echo.who", {}, { trace_id: TRACE });
    await rig.call(
      "hello.greet",
      { name: "Ann" },
      { _meta: { traceparent: `00-${TRACE.replaceAll("-", "")}-00f067aa0ba902b7-01` } },
    );
    await vi.waitFor(async () => {
      const servers = (await rig.events(`trace_id=${TRACE}`)).map(({ target }) => target.server_id);
      expect(servers).toEqual(["hello", "echo"]);
    });
  });

  test("is shown, searched, exported and verified by the verbs, with and without a gateway", async () => {
    await using rig = new AuditRig();
    await rig.start();
    await rig.call("echo.who");
    await vi.waitFor(async () => expect(await rig.events()).toHaveLength(2));
    const shown = await rig.verbAt("tail");
    expect(shown.stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/^\S+Z SERVER_CONNECTED SUCCESS isthmus echo$/),
      expect.stringMatching(/^\S+Z TOOL_EXECUTED SUCCESS local echo\.who [\d.]+ ms$/),
    ]);
    const found = await rig.verbAt("query", "--type", "TOOL_EXECUTED", "--json");
    expect(JSON.parse(found.stdout)).toMatchObject({ event_type: "TOOL_EXECUTED" });
    expect(await rig.verbAt("verify")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^intact: 2 events/) });
    const file = join(rig.folder, "trail.jsonl");
    const key = join(rig.folder, "state/audit-key.pub");
    expect(await rig.verbAt("export", file)).toMatchObject({ code: 0 });
    const verified = await rig.verbAt("verify", file, "--key", key);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^intact: 2 events/), stderr: "" });
    expect((await rig.verbAt("verify", file)).stderr).toMatch(/taken from the file itself/);

    const lines = readFileSync(file, "utf8");
    writeFileSync(file, lines.replace('\\"result\\":\\"SUCCESS\\"', '\\"result\\":\\"FAILURE\\"'));
    const altered = await rig.verbAt("verify", file, "--key", key);
    expect(altered).toMatchObject({
      code: 11,
      stdout: expect.stringMatching(/^ALTERED block 0 of chain \S+ was altered: event 0/),
    });

    await rig.gateway.stop();
    expect(await rig.verb("export", file)).toMatchObject({ code: 0 });
    expect(await rig.verb("verify", file)).toMatchObject({ stdout: expect.stringMatching(/^intact: 2 events/) });
    const offline = await rig.verb("verify", "--json");
    expect(JSON.parse(offline.stdout)).toMatchObject({ isIntact: true, events: 2, checkpoints: 1, uncovered: 0 });
    const { number, hash } = JSON.parse(offline.stdout).lastCheckpoint;
    expect(await rig.verb("verify", "--checkpoint", `${number}:${hash}`)).toMatchObject({ code: 0 });
    expect(await rig.verb("verify", "--checkpoint", `9:${hash}`)).toMatchObject({
      code: 11,
      stdout: expect.stringContaining("checkpoint 9 is not the one that is known"),
    });
  });

  test.each<[string, string, RegExp]>([
    [
      "an event was altered",
      "update audit_blocks set lines = replace(lines, 'echo', 'eccho') where number = 1",
      /block 1 of chain \S+ was altered: event 0/,
    ],
    ["a block was removed", "delete from audit_blocks where number = 1", /block 1 of chain \S+ is missing/],
    [
      "the end was cut off",
      "delete from audit_blocks where number >= 1; update audit_heads set number = 0",
      /blocks 1 to 2 of chain \S+ are missing/,
    ],
    [
      "everything was removed",
      "delete from audit_blocks; delete from audit_heads",
      /chain \S+ is gone; checkpoint 1 has seen it/,
    ],
    [
      "a checkpoint was altered",
      "update audit_checkpoints set text = replace(text, '\"block\":2', '\"block\":1')",
      /checkpoint 1 was altered/,
    ],
  ])("shows in whoever has the file in their hands that %s", async (_what, alteration, said) => {
    await using rig = new AuditRig();
    await rig.start();
    // One block each: what happens close together is in one.
    await vi.waitFor(async () => expect(await rig.events()).toHaveLength(1));
    for (let index = 0; index < 2; index++) {
      await rig.call("echo.who");
      await vi.waitFor(async () => expect(await rig.events()).toHaveLength(2 + index));
    }
    await rig.gateway.stop();
    const database = new Sqlite(join(rig.folder, "state/isthmus.db"));
    database.exec(alteration);
    database.close();
    const { code, stdout } = await rig.verb("verify");
    expect(stdout).toMatch(said);
    expect(code).toBe(11);
  });

  test("says so where it is kept in memory only, and can be looked at all the same", async () => {
    await using rig = new AuditRig('[database]\nurl = "memory:"\n\n[audit]\n');
    await rig.start();
    await rig.call("echo.who");
    expect(named(await rig.events())).toEqual([
      ["TOOL_EXECUTED", "who"],
      ["SERVER_CONNECTED", ""],
    ]);
    expect(await rig.verbAt("verify")).toMatchObject({ code: 1, stderr: expect.stringContaining("in memory") });
  });

  test("without [audit] has refusals and decisions only, and no call of its own", async () => {
    await using rig = new AuditRig("");
    await rig.start();
    await rig.call("echo.who");
    expect(await rig.events()).toEqual([]);
    expect(readdirSync(join(rig.folder, "state"))).not.toContain("audit-key.pem");
  });
});

test("no secret of the config, of a caller or of an argument is anywhere in it", async () => {
  const planted = { token: "planted-token-5f1c", argument: "planted-argument-9a3e", header: "planted-header-77b0" };
  const more = `
[audit]
digest = true

[audit.file]
path = "events.jsonl"

[[audit.capture]]
tools = ["echo.*"]
arguments = ["password", "note", "plain"]

[audit.webhook]
url = "http://127.0.0.1:9/"
[audit.webhook.headers]
Authorization = { fromEnv = "HOOK" }
`;
  await using rig = new AuditRig(more, { HOOK: planted.header, TOKEN: planted.token });
  const { program } = await rig.start();
  const args = {
    password: planted.argument,
    note: `Bearer ${planted.argument}`,
    plain: "shown",
    other: planted.argument,
  };
  await rig.call("echo.who", args, { _meta: { authorization: planted.token } });
  await rig.call("echo.none", args);
  await vi.waitFor(async () => expect(await rig.events("event_type=TOOL_EXECUTED")).toHaveLength(1));
  const [event] = await rig.events("event_type=TOOL_EXECUTED");
  expect(event?.details).toMatchObject({
    captured: { password: "[redacted]", note: "[redacted]", plain: "shown" },
    arguments: { password: "string", note: "string", plain: "string", other: "string" },
  });
  const exported = await rig.verbAt("export");
  const file = readFileSync(join(program.folder, "events.jsonl"), "utf8");
  await rig.gateway.stop();
  const kept = readdirSync(join(rig.folder, "state"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  const everything = [...kept, file, exported.stdout, program.stdout, program.stderr].join("\n");
  expect(everything).toContain("shown");
  for (const secret of Object.values(planted)) expect(everything).not.toContain(secret);
});
