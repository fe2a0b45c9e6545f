/** What whoever runs a gateway reads in its terminal, and in that of `isthmus logs`. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort, scriptServer, Workspace } from "../cli/workspace.ts";
import { Desk } from "../first-minute/terminal.ts";
import { ROOT } from "../kit/program.ts";

const ISTHMUS = `'${process.execPath}' '${join(ROOT, "dist/isthmus.js")}'`;

test("the terminal of a gateway tells where a yes is given, that of isthmus logs the same without the link", async () => {
  await using workspace = new Workspace();
  const config = `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n[gate]\nhold = "1ms"\n`;
  const server = scriptServer("plant", "tests/e2e/approvals/valve-server.mjs", workspace.path("journal"));
  workspace.write("isthmus.toml", config + server);
  const env = { PATH: process.env.PATH ?? "", HOME: workspace.folder, TERM: "xterm", PS1: "$ " };
  await using desk = new Desk({ folder: workspace.folder, work: workspace.folder, env });
  const gateway = await desk.openTerminal("gateway");
  gateway.type(`${ISTHMUS} up`);
  await gateway.waitFor("Stop with");

  const { stderr } = await workspace.run("call", "plant.open");
  const [where = ""] = /open http.* or run "isthmus approve .{4}"/.exec(stderr) ?? [];
  expect(where).toMatch(/\/approvals\//);
  const shown = await gateway.waitFor("plant/open: not called yet");
  expect(shown).toContain(`plant/open waits for a yes: ${where}\n`);
  expect(shown).not.toContain("CONFIRMATION_REQUIRED");

  const logged = (await workspace.run("logs", "call waits for a yes")).stdout;
  expect(logged).toContain("page=[secret]");
  expect(logged).not.toContain("/approvals/");

  const operator = await desk.openTerminal("operator");
  const read = await operator.run(`${ISTHMUS} logs`);
  expect(read).toMatch(/^\d\d:\d\d:\d\d {2}plant\/open waits for a yes: run "isthmus approve .{4}"$/m);
  expect(read).toMatch(/^\d\d:\d\d:\d\d {2}plant: ok$/m);
  expect(read).not.toMatch(/provider|member=|joined|\w=\w/);
});

test("the terminal of a gateway says which settings another config has, also where no server is another", async () => {
  await using workspace = new Workspace();
  const config = `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n`;
  workspace.write("isthmus.toml", config);
  const env = { PATH: process.env.PATH ?? "", HOME: workspace.folder, TERM: "xterm", PS1: "$ " };
  await using desk = new Desk({ folder: workspace.folder, work: workspace.folder, env });
  const gateway = await desk.openTerminal("gateway");
  gateway.type(`${ISTHMUS} up`);
  await gateway.waitFor("Stop with");
  workspace.write("isthmus.toml", `${config}[gate]\nmode = "strict"\n[[limits]]\nconcurrency = 3\n`);
  await gateway.waitFor("The config has changed and was taken over: gate.mode, limits.");
  const logged = (await workspace.run("logs", "--json", "config taken over")).stdout;
  expect(logged).toContain('"settings":["gate.mode","limits"]');
});
