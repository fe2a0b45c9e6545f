/** An address of a gateway that runs, with a path at which it has nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const workspace = new Workspace();
let origin = "";

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${port}"\n${scriptServer("hello", HELLO)}`);
  await workspace.serve("up", ["hello"]);
});
afterAll(() => workspace[Symbol.asyncDispose]());

test.each(["status", "list"])("%s says that nothing is there, and not that no gateway answers", async (verb) => {
  const { code, stdout, stderr } = await workspace.run(verb, "--url", `${origin}/nowhere/mcp`);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("/nowhere/mcp");
  expect(stderr).toContain("There is no such catalog");
});

test.each(["/mcp", "/hello/mcp", ""])("status and list find what is at %j", async (path) => {
  const { code, stdout } = await workspace.run("status", "--url", origin + path);
  expect([code, stdout]).toEqual([0, expect.stringContaining(": ready\n")]);
  expect((await workspace.run("list", "--url", origin + path)).stdout).toContain("greet");
});

test.each([
  ["/nowhere/mcp", "warning"],
  ["/hello/mcp", "ok"],
])("doctor knows a client that points at %s: %s", async (path, level) => {
  workspace.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { isthmus: { url: origin + path } } }));
  const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout);
  const client = findings.find(({ what }: { what: string }) => what === "clients.cursor");
  expect(client).toMatchObject({ level, found: expect.stringContaining(`points at ${origin}${path}`) });
  if (level === "warning") expect(client.found).toContain("There is no such catalog");
});
