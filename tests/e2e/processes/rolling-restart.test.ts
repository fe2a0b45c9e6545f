import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startHttpUpstream } from "../../chaos/upstreams/http-upstream.ts";
import { BalancerWatch } from "./balancer-watch.ts";
import { startCluster } from "./cluster.ts";
import { RollingLoad } from "./rolling-load.ts";

const STDIO = fileURLToPath(new URL("../../chaos/upstreams/stdio-upstream.ts", import.meta.url));

test("three processes that are restarted in turn fail no call and lose no session", async () => {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "isthmus-rolling-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const record = join(folder, "executions.jsonl");
  writeFileSync(record, "");
  const legacy = await startHttpUpstream(record, "2025");
  parts.defer(() => legacy.close());
  const modern = await startHttpUpstream(record, "2026");
  parts.defer(() => modern.close());
  const cluster = await startCluster({
    servers: `[[servers]]
id = "legacy"
url = ${JSON.stringify(legacy.url)}
sessions = "per-client"
[[servers]]
id = "modern"
url = ${JSON.stringify(modern.url)}
[[servers]]
id = "child"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(STDIO)}, ${JSON.stringify(record)}]
`,
  });
  parts.use(cluster);
  const watch = parts.use(new BalancerWatch(cluster.balancer.origin));
  const load = new RollingLoad(`${cluster.balancer.origin}/mcp`);
  for (let number = 0; number < 8; number++) await load.addSession(`http${number}`, "legacy.slow", true);
  for (let number = 0; number < 4; number++) await load.addSession(`child${number}`, "child.slow", false);
  for (let number = 0; number < 8; number++) load.addModern(`modern${number}`, "modern.slow");
  for (const index of [0, 1, 2]) {
    await cluster.fleet.kill(index, "SIGTERM");
    await cluster.fleet.start(index);
  }
  await load.stop();
  expect(load.failures).toEqual([]);
  // That of an nginx that never stood still is our fault; what it says of processes that are away, it has sent to another one.
  const itsWords = cluster.balancer.errors().filter((line) => !line.includes("while connecting to upstream"));
  const lost = load.lost.filter((call) => !watch.stoodStillIn(call));
  expect(lost, itsWords.join("\n")).toEqual([]);
  expect(load.calls).toBeGreaterThan(200);
  // What was answered was done once, and nothing was done that nobody was told of.
  const marks = readFileSync(record, "utf8").split("\n").filter(Boolean);
  const done = marks.map((line) => (JSON.parse(line) as { mark: string }).mark);
  expect(new Set(done).size).toBe(done.length);
  expect(done.length).toBe(load.calls - load.lost.length);
}, 120_000);
