/** A server that writes very small messages without a pause, of which one read brings thousands. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { freePort } from "../kit/servers/test-server.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/flooding-server.mjs", import.meta.url));
const FLOOD_MS = 3_000;
/** Where what one read brings was dealt with in one go, two were answered in that time. */
const CALLS_BESIDE = 10;

const port = await freePort();
let server: ChildProcess;
beforeAll(async () => {
  server = spawn(process.execPath, [SERVER, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  if (server.stdout) await once(server.stdout, "data");
});
afterAll(() => void server.kill());

const config = `[[servers]]
id = "pipe"
era = "2025"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(SERVER)}]
[[servers]]
id = "web"
era = "2025"
url = "http://127.0.0.1:${port}/mcp"
${helloServer()}`;

describeAttacks("a server that floods us with small messages", { config }, (field) => {
  test.each([
    ["pipe", "words"],
    ["pipe", "objects"],
    ["pipe", "batches"],
    ["pipe", "pings"],
    ["web", "ids"],
    ["web", "answers"],
  ])("keeps nobody from calling another one: %s, %s", async (bad, what) => {
    const end = performance.now() + FLOOD_MS;
    const flood = toolCall(1, `${bad}.flood`, { what, ms: FLOOD_MS });
    const over = field.rpc(flood, { at: 0 }).catch(() => undefined);
    let calls = 0;
    for (; calls < CALLS_BESIDE && performance.now() < end; calls++) {
      const { messages } = await field.rpc(toolCall(2, "hello.greet", { name: "Ada" }), { at: 0 });
      expect(JSON.stringify(messages)).toContain("Hello, Ada!");
    }
    expect(calls).toBe(CALLS_BESIDE);
    await over;
    // The next one begins when this one is over.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, end - performance.now())));
  });
});
