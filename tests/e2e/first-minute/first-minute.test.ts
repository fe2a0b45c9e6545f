/**
 * A newcomer's first minute, typed into real terminals from a bare clone on. What they see is a page of the guide;
 * `npm run e2e -- first-minute -u` writes it anew.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../cli/workspace.ts";
import { ROOT } from "../kit/program.ts";
import { Newcomer } from "./newcomer.ts";
import { Recording, shorten } from "./recording.ts";
import { Desk, type Terminal } from "./terminal.ts";

const PAGE = join(ROOT, "docs/guide/first-minute.md");
const INSTALL_MS = 300_000;

test("a newcomer gets from a bare clone to their own servers and back", { timeout: 600_000 }, async () => {
  using newcomer = new Newcomer();
  const { folder, clone, clientFile } = newcomer;
  await using desk = new Desk({ folder, work: clone, env: newcomer.environment(await freePort()) });
  const recording = new Recording();
  const gateway = await desk.openTerminal("gateway");

  await startFromClone({ gateway, recording, nodeVersion: await gateway.run("node --version") });
  const original = newcomer.writeClientFile();
  const shell = await desk.openTerminal("newcomer");
  await importServers({ gateway, shell, recording });
  expect(readFileSync(clientFile, "utf8")).toContain('"isthmus"');
  await useThem({ gateway, shell, recording });
  await breakOne({ gateway, shell, recording });
  await takeItBack({ gateway, shell, recording });
  expect(readFileSync(clientFile, "utf8")).toBe(original);

  await startAgain(gateway);

  expect(await desk.close()).toEqual([]);
  expect(recording.tooWide).toEqual([]);
  expect(recording.page).not.toMatch(/^\s+at .*:\d+:\d+/m);
  await expect(recording.page).toMatchFileSnapshot(PAGE);
});

type Scene = { readonly gateway: Terminal; readonly shell: Terminal; readonly recording: Recording };

type Start = { readonly gateway: Terminal; readonly recording: Recording; readonly nodeVersion: string };

async function startFromClone({ gateway, recording, nodeVersion }: Start): Promise<void> {
  const command = "npm install && npm start";
  gateway.type(command);
  const screen = await gateway.waitFor("Stop with Ctrl-C.", "", INSTALL_MS);
  expect(screen).toMatch(/^added \d+ packages/m);
  // npm has no complaints, and where it runs on an old Node, one line says what that means.
  expect(screen).not.toMatch(/^npm (warn|error)/m);
  expect(screen.match(/^npm runs on Node .*/gm)?.length ?? 0).toBe(isOld(nodeVersion) ? 1 : 0);
  expect(screen).toMatch(/^Isthmus listens on http:\/\/127\.0\.0\.1:\d+\/mcp$/m);
  expect(screen).toContain("A call, just now:\n  isthmus call demo.greet name=Ada\n  Hello, Ada!\n");
  recording.tell(
    "# The first minute",
    "What a newcomer sees, from a bare clone on. A test types it into a terminal of 80 columns and compares.",
    "## Start",
    "Without a config the demo starts, first with a line that counts while its server comes up:",
  );
  recording.show(await firstProgress(gateway, 0));
  recording.tell("A moment later:");
  recording.show(`$ ${command}\n…\n\n${screen.slice(screen.search(/^> isthmus@\S+ start$/m))}`);
}

/** Older than package.json demands. */
function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  return major < 22 || (major === 22 && minor < 12);
}

/** The servers as they are shown first; afterwards the lines change in place. */
async function firstProgress(gateway: Terminal, from: number): Promise<string> {
  await gateway.waitUntilSeen("starting …", from);
  const lines = gateway.seen().slice(from).split("\n");
  const rest = lines.slice(lines.findIndex((line) => line.includes("starting …")));
  const ids = rest.map((line) => /^ {2}(\S+) +starting …/.exec(line)?.[1]);
  // Up to the line with which it was drawn again.
  const end = ids.findIndex((id, index) => id === undefined || ids.indexOf(id) < index);
  return rest.slice(0, end).join("\n");
}

async function importServers({ gateway, shell, recording }: Scene): Promise<void> {
  recording.tell(
    "## Take over the servers you have",
    "The newcomer uses Claude Desktop with six servers, of which two do not work any more.",
    "In a second terminal, in the same folder:",
  );
  const alias = "alias isthmus='npm run -s isthmus --'";
  expect(await shell.run(alias)).toBe("");
  const command = "isthmus import claude --connect";
  const [before, seenBefore] = [gateway.screen(), gateway.seen().length];
  const imported = await shell.run(command);
  expect(imported).toMatch(/^ {2}added {4}everything/m);
  expect(imported).toContain("Added 6 servers to ~/isthmus/isthmus.toml.");
  expect(imported).not.toContain("tk_live");
  recording.show(`$ ${alias}\n$ ${command}\n${imported}`);
  recording.tell("The gateway in the first terminal takes the config over while it runs:");
  const screen = await gateway.waitFor("says what to do about weather, tickets.", before);
  recording.show(await firstProgress(gateway, seenBefore));
  recording.tell("and when all have started or failed:");
  expect(screen).toMatch(/^ {2}everything {2}ok +\d+ tools$/m);
  expect(screen).toMatch(/^ {2}tickets +unreachable {2}exited with code 1\n {4}it wrote: TICKETS_URL is not set$/m);
  recording.show(screen);
}

async function useThem({ gateway, shell, recording }: Scene): Promise<void> {
  recording.tell("## Use them");
  const before = gateway.screen();
  const listed = await shell.run("isthmus list");
  expect(listed).toMatch(/^filesystem\.read_text_file +filesystem +Read /m);
  expect(listed).toMatch(/^Not working:\n {2}weather +unreachable +cannot start "wttr-mcp"/m);
  recording.show(`$ isthmus list\n${shorten(listed, 6, 9)}`);
  const read = 'isthmus call filesystem.read_text_file path="$HOME/notes/shopping.txt"';
  expect(await shell.run(read)).toBe("milk");
  const sum = "isthmus call everything.get-sum a=40 b=2";
  const summed = await shell.run(sum);
  expect(summed).toContain("42");
  recording.show(`$ ${read}\nmilk\n$ ${sum}\n${summed}`);
  recording.tell("The first terminal has a line for each call:");
  recording.show(await gateway.waitFor("everything/get-sum: ok", before));
}

async function breakOne({ gateway, shell, recording }: Scene): Promise<void> {
  recording.tell("## Break one", "An edit goes wrong: the path of `hello` is not right any more.");
  const edit = "sed -i.before s,hello/server,hello/sever, isthmus.toml";
  const before = gateway.screen();
  expect(await shell.run(edit)).toBe("");
  recording.show(`$ ${edit}`);
  recording.tell("The first terminal says so, and the others go on:");
  recording.show(await gateway.waitFor("says what to do about hello, weather, tickets.", before));
  recording.tell(
    "`isthmus doctor` tries everything and says what to do; `--timeout` gives servers longer than the usual 10 s to start:",
  );
  const doctor = "isthmus doctor --timeout 60s";
  const told = await shell.run(doctor);
  expect(told).toMatch(/^PROBLEM {2}servers\.hello: exited with code 1; it last wrote: Error: Cannot find\n/m);
  expect(told).toContain("-> install wttr-mcp, or write its whole path as command");
  expect(told).toContain("3 of 15 checks found a problem.");
  recording.show(`$ ${doctor}\n${told}`);
}

async function takeItBack({ gateway, shell, recording }: Scene): Promise<void> {
  recording.tell("## Take it back", "Claude Desktop's file is again what it was, byte for byte:");
  const undone = await shell.run("isthmus import --undo");
  expect(undone).toContain("claude_desktop_config.json is as it was before.");
  recording.show(`$ isthmus import --undo\n${undone}`);
  recording.tell("And Ctrl-C in the first terminal ends the gateway and every server that it started:");
  const before = gateway.screen();
  gateway.press("C-c");
  const screen = await gateway.waitForPrompt(before);
  recording.show(screen.slice(before.length).split("\n").slice(0, -1).join("\n"));
}

/** Not on the page: on a slow machine some servers may still be starting when the table is shown. */
async function startAgain(gateway: Terminal): Promise<void> {
  gateway.type("npm start");
  const screen = await gateway.waitFor("Stop with Ctrl-C.");
  expect(screen).toMatch(/^ {2}filesystem {2}/m);
  expect(screen).not.toContain("demo");
}
