import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { openSession, post, toolCall } from "./kit/rpc.ts";

type Sent = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
};

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

/** What an OpenTelemetry collector gets. */
async function startCollector() {
  const spans: Sent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
      spans.push(...resourceSpans[0].scopeSpans[0].spans);
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    spans,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a trace goes through two gateways: each span is the child of the one before it", async () => {
  await using collector = await startCollector();
  const telemetry = `[telemetry]\notlp = "${collector.url}"\n`;
  await using inner = await startGateway({ config: `${telemetry}${helloServer()}` });
  await using outer = await startGateway({
    config: `${telemetry}[[servers]]\nid = "inner"\nurl = "${inner.url}"\nprefix = ""\n`,
  });
  const session = await openSession(outer.url);
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  await post(outer.url, toolCall(1, "hello.greet", { name: "Ada" }), { ...session, traceparent });
  const inTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
  await expect.poll(() => inTrace().length, { timeout: 10_000 }).toBe(2);
  const spans = inTrace();
  const first = spans.find(({ parentSpanId }) => parentSpanId === SPAN);
  const second = spans.find(({ parentSpanId }) => parentSpanId !== SPAN);
  expect(first).toMatchObject({ traceId: TRACE, name: "tools/call hello.greet", status: {} });
  expect(second).toMatchObject({ traceId: TRACE, parentSpanId: first?.spanId, name: "tools/call greet" });
  expect(first?.attributes).toEqual(
    expect.arrayContaining([
      { key: "isthmus.principal.id", value: { stringValue: "local" } },
      { key: "user.id", value: { stringValue: "local" } },
      { key: "isthmus.tenant", value: { stringValue: "default" } },
    ]),
  );
});
