/** Calls that need a yes where no gateway listens, so that nobody can give one. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort, scriptServer, Workspace } from "../cli/workspace.ts";
import { Program } from "../kit/program.ts";
import { StdioClient, toolCall } from "../kit/rpc.ts";

const CONFIG = '[gateway]\nlisten = "127.0.0.1:0"\n[gate]\nhold = "1h"\nexpiry = "2h"\n';
// The key of nobody who is here.
const ANCHOR = `[[gate.anchors]]\nkey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${"A".repeat(43)}"\n`;

function configIn(workspace: Workspace, more = ""): string {
  return CONFIG + more + scriptServer("plant", "tests/e2e/approvals/valve-server.mjs", workspace.path("journal"));
}

test("a client of isthmus stdio is told at once that nobody can say yes, and what to do", async () => {
  await using workspace = new Workspace();
  await using program = new Program(["stdio"], { config: configIn(workspace) });
  const client = new StdioClient(program);
  await client.open();
  const answer = await client.ask(toolCall(1, "plant.open", {}));
  expect(answer.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/nobody can give one here.*"isthmus up".*--connect url.*\[gate\]/) }],
  });
  expect(JSON.stringify(answer)).not.toContain("isthmus approve");
  expect(await client.ask(toolCall(2, "plant.look", {}))).toMatchObject({
    result: { content: [{ text: "did look" }] },
  });
});

test.each([
  ["knows nobody", ""],
  ["trusts a key", ANCHOR],
])("isthmus call without a gateway that runs does not wait for a yes, where the config %s", async (_what, more) => {
  await using workspace = new Workspace();
  workspace.write("isthmus.toml", configIn(workspace, more));
  const { code, stdout, stderr } = await workspace.run("call", "plant.open");
  expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
  expect(stderr).toMatch(/plant\.open needs a yes, and nobody can give one here.*Start "isthmus up"/);
  expect(stderr).not.toContain("isthmus approve");
});

test("a caller of a gateway that trusts nobody is told so, and what whoever runs it must write", async () => {
  await using workspace = new Workspace();
  const listen = `127.0.0.1:${await freePort()}`;
  const config = configIn(workspace, 'evidence = "external_proof"\n')
    .replace("127.0.0.1:0", listen)
    .replace("1h", "1ms");
  workspace.write("isthmus.toml", config);
  await workspace.serve("up", ["plant"]);
  const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout);
  const { advice } = findings.find(({ what }: { what: string }) => what === "approvals");
  expect(advice).toMatch(/operator init.*evidence = "operator"/);
  const { code, stderr } = await workspace.run("call", "plant.open");
  expect(code).toBe(6);
  expect(stderr).toContain(`nobody here can say yes: ${advice}`);
  expect(stderr).not.toContain("isthmus approve");
  const { stdout } = await workspace.run("call", "plant.open", "--json");
  const [{ text }] = JSON.parse(stdout).content;
  expect(text).toContain(`Waits for a yes that nobody here can give. Whoever runs the gateway: ${advice}.`);
  expect(text).not.toContain("isthmus approve");
});

test("import --connect and doctor say that nobody can say yes to what the client starts itself", async () => {
  await using workspace = new Workspace();
  workspace.write("isthmus.toml", configIn(workspace));
  workspace.write(".cursor/mcp.json", '{"mcpServers":{}}');
  const cursor = join(".cursor", "mcp.json");
  const { stdout } = await workspace.run("import", cursor, "--connect");
  expect(stdout).toMatch(/calls that need a yes are\n +refused.*--connect url/);
  const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout);
  const client = findings.find(({ what }: { what: string }) => what === "clients.cursor");
  expect(client).toMatchObject({ level: "ok", found: expect.stringContaining("calls that need a yes are refused") });
  await workspace.run("import", cursor, "--undo");
  expect((await workspace.run("import", cursor, "--connect", "url")).stdout).not.toContain("need a yes");
});
