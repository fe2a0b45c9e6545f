import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AuditRig } from "./audit-rig.ts";

type Got = { readonly url: string; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string };

let got: Got[];
let answer: (count: number) => number;
let address: string;
const receiver = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    got.push({ url: request.url ?? "", headers: request.headers, body });
    response.writeHead(answer(got.length)).end();
  });
});

beforeEach(async () => {
  [got, answer] = [[], () => 200];
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterEach(() => {
  receiver.closeAllConnections();
  receiver.close();
});

const patient = { timeout: 15_000, interval: 100 };

test("a receiver gets every event, again until it has taken it, and can tell a repeat [MG-135] [MG-125]", async () => {
  const hook = `[audit]\n[audit.webhook]\nurl = "${address}/hook"\n[audit.webhook.headers]\nAuthorization = { fromEnv = "HOOK" }\n`;
  await using rig = new AuditRig(hook, { HOOK: "Bearer hook-secret" });
  answer = (count) => (count === 1 ? 503 : 204);
  await rig.start();
  await rig.call("echo.who");
  await vi.waitFor(() => {
    const events = got.slice(1).flatMap(({ body }) => JSON.parse(body).events as { event_type: string }[]);
    expect(events.map(({ event_type }) => event_type).sort()).toEqual(["SERVER_CONNECTED", "TOOL_EXECUTED"]);
  }, patient);
  const [first, ...others] = got;
  expect(first?.headers.authorization).toBe("Bearer hook-secret");
  expect(others.map(({ headers }) => headers["idempotency-key"])).toContain(first?.headers["idempotency-key"]);
});

test("a collector gets every event as a log record", async () => {
  await using rig = new AuditRig(`[telemetry]\notlp = "${address}"\n\n[audit]\notlp = true\n`);
  await rig.start();
  await rig.call("echo.who");
  await vi.waitFor(() => {
    const bodies = got.filter(({ url }) => url === "/v1/logs").map(({ body }) => JSON.parse(body));
    const records = bodies.flatMap((body) => body.resourceLogs[0].scopeLogs[0].logRecords);
    const names = records.map(({ attributes }) => attributes[0].value.stringValue);
    expect(names.sort()).toEqual(["SERVER_CONNECTED", "TOOL_EXECUTED"]);
    for (const { body, traceId } of records) {
      expect(JSON.parse(body.stringValue).trace_id.replaceAll("-", "")).toBe(traceId);
    }
  }, patient);
});
