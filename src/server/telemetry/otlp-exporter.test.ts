import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import type { Span } from "../../contract/index.ts";
import { OtlpExporter } from "./otlp-exporter.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A collector that keeps what it is sent and answers with `status`. */
async function collector(status = 200) {
  const received: { path: string | undefined; key: string | undefined; spans: unknown[] }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const { spans } = body.resourceSpans[0].scopeSpans[0];
      received.push({ path: request.url, key: request.headers["x-key"]?.toString(), spans });
      response.writeHead(status).end("{}");
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { received, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function exporter(endpoint: string) {
  const time = new ManualTime();
  const log = new KeptLog();
  const meter = new KeptMeter();
  const options = { endpoint, headers: { "x-key": "k" }, version: "1", timers: time, log, meter };
  return { time, log, meter, spans: new OtlpExporter(options) };
}

function span(name: string, error?: string): Span {
  const ids = { traceId: "a".repeat(32), spanId: "b".repeat(16) };
  return {
    ...ids,
    name,
    startMs: 1_700_000_000_000.25,
    endMs: 1_700_000_000_001,
    attributes: { x: "y" },
    ...(error && { error }),
  };
}

describe("OtlpExporter", () => {
  test("sends what has gathered after a while, in the form that collectors read", async () => {
    const { received, endpoint } = await collector();
    const { time, spans } = exporter(endpoint);
    spans.add(span("one"));
    spans.add(span("two", "OVERLOADED"));
    time.advance(1000);
    await expect.poll(() => received.length).toBe(1);
    expect(received[0]).toMatchObject({
      path: "/v1/traces",
      key: "k",
      spans: [
        { name: "one", startTimeUnixNano: "1700000000000250000", endTimeUnixNano: "1700000000001000000", status: {} },
        { name: "two", status: { code: 2, message: "OVERLOADED" } },
      ],
    });
  });

  test("sends a full batch at once and the rest when it is closed", async () => {
    const { received, endpoint } = await collector();
    const { spans } = exporter(endpoint);
    for (let n = 0; n < 600; n++) spans.add(span(String(n)));
    await spans.close();
    await spans.close();
    expect(received.map(({ spans: sent }) => sent.length)).toEqual([512, 88]);
  });

  test("drops and counts what a failing collector does not take, and says so once", async () => {
    const { received, endpoint } = await collector(503);
    const { log, meter, spans } = exporter(endpoint);
    for (let n = 0; n < 1024; n++) spans.add(span(String(n)));
    await spans.close();
    expect(received).toHaveLength(2);
    expect(meter.of("isthmus_spans_dropped_total collector failed")).toBe(1024);
    expect(log.lines.filter(({ message }) => message === "traces could not be exported")).toHaveLength(1);
  });

  test("keeps a bounded number for a collector that does not answer", () => {
    const { meter, spans } = exporter("http://127.0.0.1:1");
    for (let n = 0; n < 6000; n++) spans.add(span(String(n)));
    expect(meter.of("isthmus_spans_dropped_total queue full")).toBe(6000 - 4096 - 512);
  });
});
