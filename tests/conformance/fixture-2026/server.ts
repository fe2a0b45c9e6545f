/**
 * The conformance fixture for 2026-07-28: every fixed name that the suite calls.
 *
 *   node tests/conformance/fixture-2026/server.ts --port N     HTTP at /mcp; 0 picks a free port
 *   node tests/conformance/fixture-2026/server.ts --stdio      the same server on stdin and stdout
 */
import { parseArgs } from "node:util";
import { serveHttp } from "./http.ts";
import { serveStdio } from "./stdio.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, stdio: { type: "boolean", default: false } },
});

if (values.stdio) {
  serveStdio();
} else {
  const port = await serveHttp(Number(values.port));
  process.stdout.write(`listening on http://127.0.0.1:${port}/mcp\n`);
}

// The runner starts us with an IPC channel, which closes however the runner ends.
process.once("disconnect", () => process.exit());
