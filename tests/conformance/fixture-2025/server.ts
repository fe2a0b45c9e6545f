/**
 * The conformance fixture for 2025-11-25: every fixed name the suite calls.
 *
 *   node tests/conformance/fixture-2025/server.ts --port N     Streamable HTTP at /mcp; 0 picks a free port
 *   node tests/conformance/fixture-2025/server.ts --stdio      the same server on stdin and stdout
 */
import { enableCompileCache } from "node:module";
import { parseArgs } from "node:util";
import { type Constructor, load, type Transport } from "../sdk.ts";
import { createFixture } from "./fixture.ts";

// On stdio one is started for each profile, while the suite waits for no more than 0.6 s.
enableCompileCache();

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, stdio: { type: "boolean", default: false } },
});

if (values.stdio) {
  const { StdioServerTransport } = await load<{ StdioServerTransport: Constructor<[], Transport> }>(
    "sdk/dist/esm/server/stdio.js",
  );
  await createFixture().connect(new StdioServerTransport());
} else {
  const { serveHttp } = await import("./http.ts");
  const port = await serveHttp(Number(values.port));
  process.stdout.write(`listening on http://127.0.0.1:${port}/mcp\n`);
}

// The runner starts us with an IPC channel, which closes however the runner ends.
process.once("disconnect", () => process.exit());
