/** Every command of README and guide is run as it stands there. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { ROOT } from "../kit/program.ts";
import { NginxRig } from "./nginx-rig.ts";
import { PageRunner } from "./page-runner.ts";
import { runPages } from "./run-pages.ts";
import { StoresRig } from "./stores-rig.ts";

/** What must be there before the commands of a page make sense. */
const SETUPS: Readonly<Record<string, (page: PageRunner) => Promise<AsyncDisposable> | undefined>> = {
  "docs/guide/behind-nginx.md": (page) => NginxRig.start(page),
  "docs/guide/import.md": writeClientFiles,
  "docs/guide/several-processes.md": startNeighbours,
  "docs/guide/stickiness.md": startPrepared,
  "docs/guide/tokens-for-servers.md": startProtectedServer,
  "examples/hello/README.md": linkProgram,
};

/** The stores behind the gateways, and nginx before them. */
async function startNeighbours(page: PageRunner): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await StoresRig.start(page));
  stack.use(await NginxRig.start(page));
  return stack.move();
}

/** As whoever reads this page after the one about several processes has it. */
async function startPrepared(page: PageRunner): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startNeighbours(page));
  await StoresRig.makeDatabase(page);
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

/** An example starts the program that was built beside it. */
function linkProgram(page: PageRunner): undefined {
  symlinkSync(join(ROOT, "dist"), join(page.work, "dist"));
}

test.each(runPages())("%s prints what it shows", { timeout: 120_000 }, async (name) => {
  await using page = await PageRunner.open();
  await using _ = await SETUPS[name]?.(page);
  await page.run(name);
});
