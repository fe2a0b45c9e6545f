/** Every command of the guide is run as it stands there. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { eventually } from "../../hostile/kit/observe.ts";
import { isCommand, readBlocks } from "../kit/markdown.ts";
import { ROOT } from "../kit/program.ts";
import { NginxRig } from "./nginx-rig.ts";
import { PageRunner } from "./page-runner.ts";
import { StoresRig } from "./stores-rig.ts";

const GUIDE = "docs/guide";
const pages = readdirSync(join(ROOT, GUIDE)).filter((name) => name.endsWith(".md"));
const hasCommands = (name: string) => readBlocks(`${GUIDE}/${name}`).some(isCommand);

/** What must be there before the commands of a page make sense. */
const SETUPS: Readonly<Record<string, (page: PageRunner) => Promise<AsyncDisposable> | undefined>> = {
  "behind-nginx.md": (page) => NginxRig.start(page),
  "import.md": writeClientFiles,
  "several-processes.md": startNeighbours,
  "stickiness.md": startNeighbours,
  "tokens-for-servers.md": startProtectedServer,
};

/** The stores behind the gateways, and nginx before them. */
async function startNeighbours(page: PageRunner): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await StoresRig.start(page, `${GUIDE}/several-processes.md`));
  stack.use(await NginxRig.start(page));
  return stack.move();
}

const PROTECTED_SERVER = fileURLToPath(new URL("../upstream-auth/serve.ts", import.meta.url));

/** A server that wants tokens, and their issuer. */
async function startProtectedServer(page: PageRunner): Promise<AsyncDisposable> {
  const serving = page.start([process.execPath, PROTECTED_SERVER]);
  await eventually(serving.printed, (text) => text === "ready\n");
  return { [Symbol.asyncDispose]: () => serving.stop() };
}

/** Files of clients as their users have them. */
function writeClientFiles(page: PageRunner): undefined {
  const hello = { command: "node", args: [join(page.work, "examples/hello/server.mjs")] };
  page.write("~/.config/Claude/claude_desktop_config.json", JSON.stringify({ mcpServers: { hello } }));
  page.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { greeter: hello } }));
  page.write("some.json", JSON.stringify({ mcpServers: { another: hello } }));
}

test.each(pages.filter(hasCommands))("docs/guide/%s prints what it shows", { timeout: 120_000 }, async (name) => {
  await using page = await PageRunner.open();
  await using _ = await SETUPS[name]?.(page);
  await page.run(`${GUIDE}/${name}`);
});
