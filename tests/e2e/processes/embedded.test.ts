import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ModernClient } from "../../chaos/clients/modern-client.ts";
import { Fleet } from "../../chaos/gateways.ts";
import { Tally } from "../../chaos/outcome.ts";
import { type HttpUpstream, startHttpUpstream } from "../../chaos/upstreams/http-upstream.ts";
import { eventually } from "../../kit/eventually.ts";
import { runProgram } from "../kit/program.ts";
import type { RpcMessage } from "../kit/rpc.ts";
import { Client, saidIn, send } from "./client.ts";
import { browserTable, newMark } from "./cluster.ts";

let folder: string;
let fleet: Fleet;
let upstream: HttpUpstream;
const url = () => `${fleet.origin(0)}/mcp`;
const file = () => join(folder, "state", "isthmus.db");

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-embedded-"));
  const record = join(folder, "executions.jsonl");
  writeFileSync(record, "");
  upstream = await startHttpUpstream(record, "2026");
  const config = `[gateway]
state = ${JSON.stringify(join(folder, "state"))}
drain = "500ms"
${browserTable("browser", newMark())}
[[servers]]
id = "slow"
url = ${JSON.stringify(upstream.url)}
task = "auto"
`;
  fleet = await Fleet.start({ count: 1, config });
}, 60_000);

afterEach(async () => {
  await fleet?.stop();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function killAndStart(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
  await fleet.kill(0, signal);
  await fleet.start(0);
}

test("a session and its subscriptions outlive a kill of the only process [AP-109]", async () => {
  const client = await Client.open(url());
  const list = (await client.request(url(), "resources/list")).message?.result?.resources as { uri: string }[];
  await client.request(url(), "resources/subscribe", { uri: list[0]?.uri });
  await killAndStart();
  using stream = await client.listen(url());
  expect(stream.status).toBe(200);
  const { tabs } = saidIn(await client.call(url(), "browser.open", { url: "again" }));
  expect(tabs).toEqual(["again"]); // the child was another one: it died with its gateway
  const isUpdate = ({ method }: RpcMessage) => method === "notifications/resources/updated";
  await eventually(
    async () => {
      await client.call(url(), "browser.open", { url: "again" });
      return stream.messages;
    },
    (messages) => messages.some(isUpdate),
  );
  expect(stream.messages.find(isUpdate)?.params).toEqual({ uri: list[0]?.uri });
});

test("the answer of a named call outlives a kill, and the call is not made again [AP-554]", async () => {
  const client = await Client.open(url());
  const key = { "idempotency-key": "open-once" };
  const first = await client.call(url(), "browser.open", { url: "once" }, key);
  await killAndStart();
  const again = await client.call(url(), "browser.open", { url: "once" }, key);
  expect(saidIn(again)).toEqual(saidIn(first));
  expect(saidIn(await client.call(url(), "browser.look")).tabs).toEqual([]);
  const other = await client.call(url(), "browser.open", { url: "another" }, key);
  expect(other.message?.error).toMatchObject({ code: -32602, data: { reason: "idempotency_mismatch" } });
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "tasks outlive a %s: one that was over keeps its result, one that ran has failed",
  async (signal) => {
    const tally = new Tally();
    const client = new ModernClient({ name: "keeper", kind: "tasks", url: url(), tally });
    const over = await startTask("over", 2_200);
    expect(await client.follow(over, "over")).toBe("completed");
    const open = await startTask("open", 60_000);
    await killAndStart(signal);
    expect(await client.follow(over, "over")).toBe("completed");
    expect(await client.follow(open, "open")).toBe("failed");
    expect(tally.wrong).toEqual([]);
    client.close();
  },
  60_000,
);

test("a second gateway on the same file is refused with 10 and the name of the file; the first goes on", async () => {
  const { code, stdout, stderr } = await runProgram(
    ["up", "--listen", "127.0.0.1:0", "--database", `sqlite:${file()}`],
    { config: "" },
  );
  expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
  expect(stderr).toBe(
    `isthmus: ${file()} is in use by another gateway: stop that one, or give this one a state folder of its own\n`,
  );
  const client = await Client.open(url());
  expect(saidIn(await client.call(url(), "browser.look")).tabs).toEqual([]);
});

/** A call that becomes a task; its id. */
async function startTask(mark: string, ms: number): Promise<string> {
  const prefix = "io.modelcontextprotocol/";
  const _meta = {
    [`${prefix}protocolVersion`]: "2026-07-28",
    [`${prefix}clientInfo`]: { name: "keeper", version: "1.0.0" },
    [`${prefix}clientCapabilities`]: { extensions: { [`${prefix}tasks`]: {} } },
  };
  const headers = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "slow.slow",
  };
  const params = { name: "slow.slow", arguments: { mark, ms }, _meta };
  const { text } = await send(url(), "POST", headers, { id: 1, method: "tools/call", params });
  const taskId = /"taskId":"([^"]+)"/.exec(text)?.[1];
  if (taskId === undefined) throw new Error(`no task: ${text}`);
  return taskId;
}
