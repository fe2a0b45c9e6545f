// Starts the gateway with this folder's config on a free port, makes one call, and stops it. Exit code 0: all is well.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/isthmus.js", import.meta.url));
const config = fileURLToPath(new URL("isthmus.toml", import.meta.url));

const gateway = spawn(process.execPath, [program, "up", "--config", config, "--listen", "127.0.0.1:0", "--json"], {
  stdio: ["ignore", "pipe", "inherit"],
});

try {
  // One line of JSON when every server has listed or failed.
  const [line] = await once(gateway.stdout, "data");
  const { url, servers } = JSON.parse(line);
  assert.deepEqual(servers, [{ id: "hello", status: "ok", tools: 3 }]);

  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "hello.greet", arguments: { name: "Ada" } },
    }),
  });
  const { result } = await response.json();
  assert.deepEqual(result.content, [{ type: "text", text: "Hello, Ada!" }]);
} finally {
  gateway.kill("SIGTERM");
}
const [code] = await once(gateway, "exit");
assert.equal(code, 0);
process.stdout.write("hello: ok\n");
