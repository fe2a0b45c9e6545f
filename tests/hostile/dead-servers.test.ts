import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../e2e/kit/gateway.ts";
import { post } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { callTool, openSession, outcomeOf, textOf } from "./kit/call.ts";
import { McpUpstream } from "./kit/mcp-upstream.ts";
import { SCRIPTED_SERVER, scriptedServer } from "./kit/stdio-table.ts";

const folder = mkdtempSync(join(tmpdir(), "isthmus-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "hush-hush-4711";
const secretEnv = (more = "") => `[servers.env]\nTOKEN = "${SECRET}"\n${more}\n`;

/** What lists say about servers that are not well. */
async function troubles(gateway: RunningGateway): Promise<Record<string, { status: string; message?: string }>> {
  const { messages } = await post(gateway.url, { id: 1, method: "tools/list" });
  return ((messages[0]?.result?._meta as Record<string, unknown>)?.["dev.isthmus/servers"] ?? {}) as never;
}

describe("a server that is dead", () => {
  test("from the start is named in lists and harms no other", async () => {
    const config =
      `[[servers]]\nid = "refused"\nera = "2025"\nurl = "http://127.0.0.1:1/mcp"\n[servers.headers]\nAuthorization = "Bearer ${SECRET}"\n` +
      `[[servers]]\nid = "missing"\nera = "2025"\ncommand = "/no/such/command"\n${secretEnv()}` +
      `[[servers]]\nid = "exits"\nera = "2025"\ncommand = "false"\n${secretEnv()}${scriptedServer("canary")}`;
    await using gateway = await startGateway({ config });
    const told = await troubles(gateway);
    expect(Object.keys(told).sort()).toEqual(["exits", "missing", "refused"]);
    for (const { status } of Object.values(told)) expect(status).toBe("unreachable");
    expect(JSON.stringify(told)).not.toContain(SECRET);
    const session = await openSession(gateway.url);
    expect(textOf(await callTool(gateway.url, session, "canary.echo", { text: "well" }))).toBe("well");
    expect(outcomeOf(await callTool(gateway.url, session, "refused.any"))).toBe("fault -32601");
    for (const id of ["refused", "missing", "exits"]) {
      const { messages } = await post(`${gateway.origin}/${id}/mcp`, { id: 1, method: "x/y" });
      expect(messages[0]?.error).toMatchObject({
        code: -32603,
        data: { code: "PROVIDER_UNREACHABLE", retry: "later" },
      });
      expect(JSON.stringify(messages)).not.toMatch(new RegExp(`${SECRET}|127\\.0\\.0\\.1`));
    }
  });

  test("after it has listed gets PROVIDER_UNREACHABLE when it refuses connections", async () => {
    const upstream = await McpUpstream.start({ tools: ["work"], onCall: (call) => call.answerText("done") });
    await using gateway = await startGateway({ config: upstream.table("up", 'timeout = "2s"') });
    const session = await openSession(gateway.url);
    expect(outcomeOf(await callTool(gateway.url, session, "up.work"))).toBe("ok");
    await upstream.close();
    const answer = await callTool(gateway.url, session, "up.work");
    expect(outcomeOf(answer)).toBe("PROVIDER_UNREACHABLE");
    expect(JSON.stringify(answer)).not.toMatch(/127\.0\.0\.1/);
  });

  test("after it has listed gets PROVIDER_UNREACHABLE when its command is gone", async () => {
    const command = join(folder, "runtime");
    symlinkSync(process.execPath, command);
    const table = `[[servers]]\nid = "gone"\nera = "2025"\ncommand = "${command}"\nargs = ["${SCRIPTED_SERVER}"]\ntimeout = "3s"\n${secretEnv()}`;
    await using gateway = await startGateway({ config: table });
    const session = await openSession(gateway.url);
    rmSync(command);
    expect(outcomeOf(await callTool(gateway.url, session, "gone.die"))).toBe("OUTCOME_UNKNOWN");
    const answer = await callTool(gateway.url, session, "gone.echo");
    expect(outcomeOf(answer)).toBe("PROVIDER_UNREACHABLE");
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  });

  test("after it has listed gets PROVIDER_UNREACHABLE when it exits at once, and keeps its last words to the log", async () => {
    const file = join(folder, "die");
    await using gateway = await startGateway({
      config: scriptedServer("exits", `timeout = "3s"\n${secretEnv(`DIE_IF_FILE = "${file}"`)}`),
    });
    const session = await openSession(gateway.url);
    writeFileSync(file, "");
    expect(outcomeOf(await callTool(gateway.url, session, "exits.die"))).toBe("OUTCOME_UNKNOWN");
    const answer = await callTool(gateway.url, session, "exits.echo");
    expect(outcomeOf(answer)).toBe("PROVIDER_UNREACHABLE");
    const told = await eventually(
      () => troubles(gateway),
      (all) => all.exits?.status === "unreachable",
    );
    expect(told.exits?.status).toBe("unreachable");
    expect(JSON.stringify({ answer, told })).not.toContain(SECRET);
    expect(gateway.program.stderr).toContain("cannot log in with");
  });
});

describe("a server that dies in the middle of a call", () => {
  test("ends that call with OUTCOME_UNKNOWN, no other, and comes back", async () => {
    await using gateway = await startGateway({ config: scriptedServer("mortal") + scriptedServer("canary") });
    const session = await openSession(gateway.url);
    const other = callTool(gateway.url, session, "canary.sleep", { ms: 500 });
    const beside = callTool(gateway.url, session, "mortal.hang");
    const [died, sameProcess] = await Promise.all([callTool(gateway.url, session, "mortal.die"), beside]);
    expect([outcomeOf(died), outcomeOf(sameProcess)]).toEqual(["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"]);
    expect(textOf(await other)).toBe("slept");
    expect(textOf(await callTool(gateway.url, session, "mortal.echo", { text: "again" }))).toBe("again");
    // A new process, which has counted nothing: nobody repeated the call that killed the old one.
    expect(textOf(await callTool(gateway.url, session, "mortal.count"))).toBe("1");
  });

  test.each([
    ["a plain tool is not told twice", "plain", {}, 1, "OUTCOME_UNKNOWN"],
    ["an idempotent tool is told again", "idempotent", { idempotentHint: true }, 2, "ok"],
    ["a read-only tool is told again", "reading", { readOnlyHint: true }, 2, "ok"],
  ])("%s", async (_title, name, annotations, times, outcome) => {
    let told = 0;
    await using upstream = await McpUpstream.start({
      tools: [{ name, annotations }],
      onCall: (call) => void (++told === 1 ? call.socket.destroy() : call.answerText("done")),
    });
    await using gateway = await startGateway({ config: upstream.table("up") });
    const answer = await callTool(gateway.url, await openSession(gateway.url), `up.${name}`);
    expect({ told, outcome: outcomeOf(answer) }).toEqual({ told: times, outcome });
  });
});
