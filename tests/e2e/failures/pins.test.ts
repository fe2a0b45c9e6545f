/** Pins of a gateway that runs: over restarts, in both eras, and with a file that others write. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startGateway } from "../kit/gateway.ts";
import { ROOT, runProgram } from "../kit/program.ts";
import { post, toolCall } from "../kit/rpc.ts";

const POLL = { timeout: 20_000, interval: 100 };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-pins-"));
  say("good");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const say = (word: "good" | "bad" | "worse") => writeFileSync(join(folder, "control"), word);
const pinFile = () => join(folder, "state", "pins.json");

/** One server whose tool is described or declared otherwise while it is told to be bad. */
function config(pin: "report" | "block" | "off", way: "turn" | "undeclare" = "turn"): string {
  const args = [join(ROOT, "tests/e2e/failures/troubled-server.mjs"), way, join(folder, "control")];
  const server = `id = "a"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}`;
  return `[gateway]\nstate = ${JSON.stringify(join(folder, "state"))}\n[[servers]]\n${server}\npin = "${pin}"\nera = "2025"\nlistTtl = "1s"\n`;
}

const modern = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "e2e", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};
const MODERN_HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

async function list(url: string, isModern = false) {
  const message = { id: 1, method: "tools/list", ...(isModern && { params: modern }) };
  const { messages } = await post(url, message, isModern ? MODERN_HEADERS : {});
  const result = messages[0]?.result ?? {};
  const { tools = [], _meta } = result as { tools?: { name: string }[]; _meta?: Record<string, unknown> };
  return { names: tools.map(({ name }) => name), pins: _meta?.["dev.isthmus/pins"] };
}

test("a change while no gateway ran is told in both eras, until it is accepted", async () => {
  {
    await using first = await startGateway({ config: config("report") });
    expect(await list(first.url)).toEqual({ names: ["a.who"], pins: undefined });
    expect(await first.stop()).toBe(0);
  }
  say("bad");
  await using gateway = await startGateway({ config: config("report") });
  const changed = { "a.who": { status: "changed", since: expect.any(String), what: ["description"] } };
  expect(await list(gateway.url)).toEqual({ names: ["a.who"], pins: changed });
  expect(await list(gateway.url, true)).toEqual({ names: ["a.who"], pins: changed });
  const metrics = await (await fetch(`${gateway.origin}/metrics`)).text();
  expect(metrics).toContain("\nisthmus_pins_pending 1\n");
  expect(metrics).toContain('isthmus_pin_changes_total{server="a"} 1');
  await vi.waitFor(() => expect(readFileSync(pinFile(), "utf8")).toContain('"pending"'), POLL);
  // What the gateway needs to start is nothing to those who only look at its pins.
  const sealed = config("report").replace("[gateway]", '[gateway]\nsealKey = { fromEnv = "NOT_SET_HERE" }');
  const listed = await runProgram(["pin", "list"], { config: sealed });
  expect(listed.stdout, listed.stderr).toContain("1 pinned, 1 changed.");
  const difference = await runProgram(["pin", "diff", "a.who"], { config: sealed });
  expect(difference.stdout).toMatch(
    /^a\.who of a, changed since .*\n {2}description:\n(?: {4}[-+] .+\n){2}\ndigest of this: [0-9a-f]{32}\n\n$/,
  );
  const accepted = await runProgram(["pin", "accept", "--all", "--yes", "--json"], { config: sealed });
  expect(JSON.parse(accepted.stdout)).toEqual({ accepted: [{ kind: "tool", name: "a.who" }] });
  await vi.waitFor(async () => expect((await list(gateway.url)).pins).toBeUndefined(), POLL);
  expect((await list(gateway.url, true)).pins).toBeUndefined();
});

test("nothing is accepted that nobody was shown", async () => {
  const pin = (...words: string[]) => runProgram(["pin", ...words], { config: config("block") });
  await using gateway = await startGateway({ config: config("block") });
  const pending = async () => {
    await list(gateway.url);
    return JSON.parse((await pin("list", "--json")).stdout).pins[0]?.changes.length;
  };
  await vi.waitFor(async () => expect((await list(gateway.url)).names).toEqual(["a.who"]), POLL);
  say("bad");
  await vi.waitFor(async () => expect(await pending()).toBe(1), POLL);
  const [, digest = ""] = /digest of this: (\w+)/.exec((await pin("diff", "a.who")).stdout) ?? [];
  const unseen = await pin("accept", "a.who");
  expect({ ...unseen, stdout: unseen.stdout.split("\n")[1] }).toMatchObject({ code: 2, stdout: "  description:" });
  expect(unseen.stderr).toContain("nothing was accepted: without a terminal say what you have seen with --digest");
  say("worse");
  await vi.waitFor(async () => expect(await pending()).toBe(2), POLL);
  const late = await pin("accept", "a.who", "--digest", digest);
  expect(late).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("is not what was shown any more"),
  });
  expect(await pending()).toBe(2);
  const [, newer = ""] = /digest of this: (\w+)/.exec((await pin("diff", "a.who")).stdout) ?? [];
  expect(await pin("accept", "a.who", "--digest", newer)).toMatchObject({ code: 0, stdout: "accepted a.who\n" });
  await vi.waitFor(async () => expect((await list(gateway.url)).names).toEqual(["a.who"]), POLL);
});

test("a tool that must be approved is held back once its server does not say so any more", async () => {
  const undeclared = `[gate]\nhold = "0s"\n${config("block", "undeclare")}`;
  await using gateway = await startGateway({ config: undeclared });
  const call = async () => JSON.stringify((await post(gateway.url, toolCall(2, "a.who", {}))).messages);
  await vi.waitFor(async () => expect((await list(gateway.url)).names).toEqual(["a.who"]), POLL);
  expect(await call()).toContain("irreversible_mutable");
  say("bad");
  await vi.waitFor(async () => {
    const { names, pins } = await list(gateway.url);
    expect({ names, pins }).toMatchObject({
      names: [],
      pins: { "a.who": { status: "held", what: ["_meta.x-mcpax-capability"] } },
    });
  }, POLL);
  expect(await call()).not.toContain("undeclare bad");
  await vi.waitFor(() => expect(readFileSync(pinFile(), "utf8")).toContain('"pending"'), POLL);
  const difference = await runProgram(["pin", "diff", "a.who"], { config: undeclared });
  expect(difference.stdout).toContain('  _meta.x-mcpax-capability:\n    - {\n    -   "mutable": true,\n');
});

test("another pin in the config is taken over without touching the server", async () => {
  await using gateway = await startGateway({ config: config("report") });
  const starts = () => gateway.program.stderr.match(/"provider state","provider":"a","status":"ok"/g)?.length;
  say("bad");
  await vi.waitFor(async () => expect((await list(gateway.url)).pins).toBeDefined(), POLL);
  writeFileSync(join(gateway.program.folder, "isthmus.toml"), config("block"));
  await vi.waitFor(async () => {
    const { names, pins } = await list(gateway.url);
    expect(names).toEqual([]);
    expect(pins).toMatchObject({ "a.who": { status: "held" } });
  }, POLL);
  writeFileSync(join(gateway.program.folder, "isthmus.toml"), config("off"));
  await vi.waitFor(async () => expect(await list(gateway.url)).toEqual({ names: ["a.who"], pins: undefined }), POLL);
  expect(starts()).toBe(1);
});

test("a file that is no book of pins is told of and left alone, and the gateway serves", async () => {
  mkdirSync(join(folder, "state"));
  writeFileSync(pinFile(), "not what it was");
  await using gateway = await startGateway({ config: config("block") });
  expect((await list(gateway.url)).names).toEqual(["a.who"]);
  expect(gateway.program.stderr).toContain("pins are kept in memory only");
  expect(await gateway.stop()).toBe(0);
  expect(readFileSync(pinFile(), "utf8")).toBe("not what it was");
  const { code, stderr } = await runProgram(["pin", "list"], { config: config("block") });
  expect({ code, stderr }).toEqual({ code: 9, stderr: expect.stringContaining("is no JSON") });
});

test("without a config nothing is remembered, and the command line says so", async () => {
  const { code, stderr } = await runProgram(["pin", "list"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("without a config") });
});
