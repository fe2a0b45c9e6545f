/** Verbs beside a gateway that runs: what they say of it is what it does. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../kit/program.ts";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const VALVE = "tests/e2e/approvals/valve-server.mjs";
const workspace = new Workspace();
let port = 0;
/** Of a server that keeps others of its kind out. */
const ONCE = `mkdir lock 2>/dev/null || { echo another one runs >&2; exit 1; }; exec "${process.execPath}" "${join(ROOT, HELLO)}"`;
const config = (more = "") =>
  `[gateway]\nlisten = "127.0.0.1:${port}"\n${more}${scriptServer("hello", HELLO)}${scriptServer("plant", VALVE, "journal")}` +
  `${scriptServer("later", HELLO)}disabled = true\n${scriptServer("once", "")}`.replace(
    /("once"\ncommand = ).*\nargs = .*/,
    `$1"sh"\nargs = ["-c", ${JSON.stringify(ONCE)}]`,
  );

beforeAll(async () => {
  port = await freePort();
  workspace.write("isthmus.toml", config());
  await workspace.serve("up", ["hello", "plant", "once"]);
});
afterAll(() => workspace[Symbol.asyncDispose]());

test("a call to a tool of a disabled server says that it is disabled, and how it is taken in again", async () => {
  const { code, stderr } = await workspace.run("call", "later.greet", "name=Ada");
  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('the server later is disabled; "isthmus enable later" takes it in again'),
  ]);
});

test("explain says that nobody is known where nobody is asked who they are", async () => {
  const local = await workspace.run("explain", "local", "plant.open");
  expect(local.stdout).not.toContain("opt-out");
  expect(local.stdout).toContain("the local user may then use everything");
  const ada = await workspace.run("explain", "ada", "plant.open");
  expect(ada.stdout).toContain("Callers are not asked who they are here: each of them is local, and nobody is ada.");
  expect(ada.stdout).not.toContain("isthmus grant");
});

test("explain says that a call would wait for a yes, why, and whose", async () => {
  const { code, stdout } = await workspace.run("explain", "local", "plant.open");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^local may call, once somebody has said yes, plant\.open: /);
  expect(stdout).toContain("Each call waits for a yes: the tool says that what it does cannot be taken back.");
  expect(stdout).toContain("It needs the word of an operator.");
  const json = JSON.parse((await workspace.run("explain", "local", "plant.open", "--json")).stdout);
  expect(json).toMatchObject({ effect: "allow", gate: { reason: "irreversible_mutable", evidence: "operator" } });
});

test("a query of the audit trail that finds nothing says so, and which actors have such a name", async () => {
  await workspace.run("token", "create", "--user", "ada");
  const nobody = await workspace.run("audit", "query", "--actor", "ada");
  expect(nobody).toMatchObject({ code: 0, stdout: "" });
  expect(nobody.stderr).toContain("no event of the trail is so");
  const part = await workspace.run("audit", "query", "--actor", "operato");
  expect(part.stderr).toContain("--actor takes whole ids; there are: operator");
  expect((await workspace.run("audit", "query", "--actor", "operator")).stdout).toContain("operator");
});

test("a query of the audit trail takes the name of a tool as the trail shows it", async () => {
  await workspace.run("grant", "ada", "hello.greet");
  expect((await workspace.run("audit", "tail")).stdout).toContain("hello.greet");
  const { stdout } = await workspace.run("audit", "query", "--tool", "hello.greet");
  expect(stdout).toMatch(/^\S+ +ACCESS_GRANTED +SUCCESS +operator +hello\.greet allow ada\n/);
  expect((await workspace.run("audit", "query", "--tool", "hello.greet", "--server", "hello")).stdout).toBe("");
});

test("a query that is not understood says what is wrong where", async () => {
  const { code, stderr } = await workspace.run("audit", "query", "--from", "yesterday");
  expect([code, stderr]).toEqual([1, "isthmus: from: expected a time such as 2026-05-02T08:16:01.250Z\n"]);
});

test("an export to a file that cannot be written ends with the code for files, and without a stack", async () => {
  const file = workspace.path("nowhere", "trail.jsonl");
  const { code, stderr } = await workspace.run("audit", "export", file);
  expect([code, stderr]).toEqual([9, expect.stringMatching(/^isthmus: .*trail\.jsonl cannot be written: ENOENT.*\n$/)]);
});

test("doctor does not call a server broken that the running gateway reaches and that starts only once", async () => {
  const { code, stdout } = await workspace.run("doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { what: string; level: string; found: string }[] };
  expect(findings.find(({ what }) => what === "servers.once")).toMatchObject({
    level: "warning",
    found: expect.stringContaining(
      "the running gateway reaches it; a second one, started here, does not: exited with code 1",
    ),
  });
  expect(code).toBe(0);
});

test("doctor does not take a gateway that asks nobody who they are for one that has granted something", async () => {
  workspace.write("isthmus.toml", `[auth]\ntokens = true\n${config()}`);
  const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout);
  expect(findings.find(({ what }: { what: string }) => what === "access")).toMatchObject({
    level: "warning",
    found: expect.stringContaining("does not ask callers who they are yet"),
    advice: expect.stringContaining("isthmus grant USER hello"),
  });
  workspace.write("isthmus.toml", config());
});

test("doctor says that a config which it can read, and the gateway has refused, takes a restart", async () => {
  workspace.write("isthmus.toml", config(`sse = true\n`));
  let found: { what: string; found: string; advice?: string } | undefined;
  for (let attempt = 0; attempt < 20 && found?.advice === undefined; attempt++) {
    const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout);
    found = findings.find(({ what }: { what: string }) => what === "reload");
  }
  expect(found?.advice).toBe(
    'restart the gateway: the config can be read, and what has changed counts from a start only; "isthmus logs" says what',
  );
});
