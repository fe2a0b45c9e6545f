import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../tests/kit/quiet.ts";
import { GatewayError, type HttpRequest, type HttpResponse, LOCAL, ORIGIN_TEXTS } from "../contract/index.ts";
import type { Authenticator } from "./governance/index.ts";
import { HttpServer, type HttpServerOptions } from "./http-server.ts";
import { answerNoRoom } from "./no-room.ts";

const nothing = () => undefined;

/** What is answered to a request for this, as status, type and document. */
async function answered(url: string, ask: (request: HttpRequest, response: HttpResponse) => void) {
  let end: (all: [number, string, object]) => void = nothing;
  const whole = new Promise<[number, string, object]>((resolve) => (end = resolve));
  const response = {
    isOver: false,
    answer: (status: number, lines: string, text: string) => end([status, lines, JSON.parse(text)]),
    cut: nothing,
  } as unknown as HttpResponse;
  ask(
    { method: "GET", url, headers: {}, principal: LOCAL, clientAddress: "::1", body: nothing, discard: nothing },
    response,
  );
  return whole;
}

function serverWith(parts: Partial<HttpServerOptions>): HttpServer {
  const routes = { admin: () => Promise.reject(new Error("a defect")), front: () => void 0 } as never;
  const [timers, log, meter] = [new ManualTime(), new KeptLog(), new KeptMeter()];
  return new HttpServer({ gate: nothing, clientAddress: (peer) => peer, routes, timers, log, meter, ...parts });
}

describe("what is asked of the API and not answered by its front", () => {
  const PROBLEM = expect.stringContaining("Content-Type: application/problem+json\r\n");
  const document = (code: string, status: number) =>
    expect.objectContaining({ type: `urn:isthmus:error:${code}`, code, status, detail: expect.any(String) });

  test("is a problem where too much is asked, which says when to try again", async () => {
    const server = serverWith({ edge: { refuse: () => 1_500 } });
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    const answer = await fetch(`http://127.0.0.1:${port}/api/tokens`, { headers: { connection: "close" } });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(await answer.json()).toEqual(document("LIMITED", 429));
    await server.close();
  });

  test("is a problem where there is no room for it", async () => {
    const [status, lines, body] = await answered("/api/tokens", answerNoRoom);
    expect([status, lines, body]).toEqual([503, PROBLEM, document("OVERLOADED", 503)]);
    expect(lines).toContain("Retry-After: 1\r\n");
  });

  test("is a problem where the front cannot be made", async () => {
    const server = serverWith({});
    expect(await answered("/api/tokens", (request, response) => server.take(request, response))).toEqual([
      500,
      PROBLEM,
      document("INTERNAL", 500),
    ]);
  });

  test("is one at no other path", async () => {
    expect(await answered("/mcp", answerNoRoom)).toMatchObject([503, expect.stringContaining("application/json"), {}]);
  });
});

describe("whoever comes by a name that is not served, and is not known either", () => {
  const stranger = () => {
    throw new GatewayError("NOT_AUTHENTICATED");
  };
  const authenticator = { authenticate: stranger } as unknown as Authenticator;
  const message = ORIGIN_TEXTS.host;
  const said = { jsonrpc: "2.0", id: null, error: { code: -32000, message } };

  test.each<[string, string, object]>([
    ["/mcp", "application/json", said],
    ["/hello/mcp", "application/json", said],
    ["/api/tokens", "application/problem+json", { status: 403, code: "NOT_ALLOWED", detail: message }],
    ["/metrics", "application/json", { error: message }],
  ])("is told at %s what to write, in the form that is spoken there", async (path, type, body) => {
    const routes = { admin: async () => ({ isOpen: () => false }) } as never;
    const server = serverWith({ authenticator, routes, gate: () => "host" });
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([403, type]);
    expect(await answer.json()).toMatchObject(body);
    await server.close();
  });
});
