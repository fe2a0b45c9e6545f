/** Verbs in a folder without a config, or beside one that cannot be read: what they say is of the gateway that runs, and not of the demo. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const workspace = new Workspace();
const empty = new Workspace();
let port = 0;
const config = (servers: string) => `[gateway]\nlisten = "127.0.0.1:${port}"\n${servers}`;
const servers = `${scriptServer("hello-2", HELLO)}[[servers]]\nid = "gone"\ncommand = "/no/such/program"\n`;

const inEmpty = (...args: string[]) =>
  empty.start(args, { HOME: workspace.folder, ISTHMUS_LISTEN: `127.0.0.1:${port}` }).ended;

type Finding = { level: string; what: string; found: string; advice?: string };

beforeAll(async () => {
  port = await freePort();
  workspace.write("isthmus.toml", config(servers));
  await workspace.serve("up", ["hello-2"]);
});
afterAll(async () => {
  await empty[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

describe("in a folder without a config", () => {
  test("list names the servers of the gateway that runs", async () => {
    const { stdout, stderr } = await inEmpty("list");
    expect(stdout).toMatch(/^hello-2\.greet +hello-2 /m);
    expect(stderr).toBe("");
    const { offers } = JSON.parse((await inEmpty("list", "--json")).stdout);
    expect(offers).toContainEqual(expect.objectContaining({ name: "hello-2.greet", server: "hello-2" }));
  });

  test("list --server takes the name of such a server, and refuses another", async () => {
    expect(await inEmpty("list", "--server", "hello-2")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("hello-2.greet"),
    });
    expect((await inEmpty("list", "--server", "demo")).code).toBe(2);
  });

  test("show names the server of a tool", async () => {
    expect((await inEmpty("show", "hello-2.greet")).stdout).toMatch(/^hello-2\.greet, a tool of hello-2\n/);
  });

  test("doctor says which config the gateway has, what it says of its servers, and nothing of the demo", async () => {
    const { code, stdout } = await inEmpty("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    const file = workspace.path("isthmus.toml");
    expect(findings).toContainEqual({
      level: "warning",
      what: "config",
      found: `there is none here; the gateway at http://127.0.0.1:${port} runs with ${file}`,
      advice: `"isthmus doctor --config ${file}" looks at all of that`,
    });
    expect(findings).toContainEqual({ level: "ok", what: "servers.hello-2", found: "the running gateway reaches it" });
    expect(findings.find(({ what }) => what === "servers.gone")).toMatchObject({ level: "problem" });
    expect(stdout).not.toContain("demo");
    expect(code).toBe(8);
  });
});

describe("while the config cannot be read", () => {
  test.each([
    ["before the server", () => `${config("")}[[servers]\n${servers.slice("[[servers]]\n".length)}`],
    ["in the id of the server", () => config(servers.replace('"hello-2"', '"hello-2'))],
  ])("list names the servers of the gateway that runs, with a mistake %s", async (_where, text) => {
    workspace.write("isthmus.toml", text());
    const { stdout } = await workspace.run("list");
    workspace.write("isthmus.toml", config(servers));
    expect(stdout).toMatch(/^hello-2\.greet +hello-2 /m);
  });
});
