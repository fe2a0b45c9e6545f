/** What verbs say of an answer that is not the one they asked for: whether a gateway gave it, or what else listens there. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Ending } from "../ending.ts";
import { openRunning } from "./connect.ts";
import { operate } from "./operate.ts";

const problem = (code: string, more: object) => JSON.stringify({ type: `urn:isthmus:error:${code}`, ...more });
const fault = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } });

let server: Server;
let origin: string;
/** What is answered, whatever is asked. */
let answer: { status: number; text: string };
beforeEach(async () => {
  // Somebody is named, so that what listens need not know the operator of this machine.
  vi.stubEnv("ISTHMUS_TOKEN", "ist_abc");
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.close();
});

/** How a verb ends that was answered so. */
async function endingOf(status: number, text: string, work: () => Promise<unknown>) {
  answer = { status, text };
  const thrown: unknown = await work().catch((error: unknown) => error);
  if (!(thrown instanceof Ending)) throw new Error("it did not end");
  return { exit: thrown.exit, lines: thrown.lines };
}

describe("an operation", () => {
  const order = { id: "tokens.revoke", method: "GET", path: "/api/tokens/x", input: { id: "x" } };
  const missing = ["there is no token x"];
  const ended = (status: number, text: string) =>
    endingOf(status, text, () => operate({ ...order, missing }, { url: origin }));

  test.each([
    [404, "<html>404</html>", ""],
    [404, '{"detail":"no route"}', " (no route)"],
    [404, '{"type":"about:blank","title":"Not Found"}', " (Not Found)"],
    [500, "", ""],
  ])(
    "that is answered HTTP %d with %j has reached another program, which says nothing about it",
    async (status, text, said) => {
      expect(await ended(status, text)).toEqual({
        exit: "unreachable",
        lines: [`${origin}/api/tokens/x answered HTTP ${status}${said}; is another program there?`],
      });
    },
  );

  test.each([
    ["that it is about nothing", 404, problem("NO_SUCH_TARGET", { detail: "No." }), missing],
    ["why it was not done", 409, problem("CONFLICT", { detail: "It was changed." }), ["It was changed."]],
    [
      "what is wrong with it where",
      400,
      problem("BAD_CALL", { detail: "No.", problems: [{ path: "/body/user", message: "is missing" }] }),
      ["user: is missing"],
    ],
  ])("is told %s by a gateway", async (_what, status, text, lines) => {
    expect(await ended(status, text)).toEqual({ exit: "failure", lines });
  });
});

describe("a session", () => {
  const ended = (status: number, text: string) =>
    endingOf(status, text, () => openRunning(new URL("/mcp", origin), {}, 10_000));

  test.each([
    ["an error of JSON-RPC", 503, fault(null, "Too many sessions")],
    ["a problem", 503, problem("OVERLOADED", { detail: "Too many sessions" })],
  ])("that a gateway does not open has its words, said in %s", async (_how, status, text) => {
    expect(await ended(status, text)).toEqual({
      exit: "unreachable",
      lines: [`the gateway at ${origin}/mcp answers: Too many sessions`],
    });
  });

  test.each([
    [404, '{"detail":"no route"}', "no route"],
    [404, "<html>404</html>", "HTTP 404"],
    [200, "welcome", "HTTP 200 without a message of MCP"],
  ])("that is answered HTTP %d with %j has reached another program", async (status, text, said) => {
    const { exit, lines } = await ended(status, text);
    expect(exit).toBe("unreachable");
    expect(lines).toEqual([
      `${origin}/mcp answers, but not as an MCP server (${said}); is it another program? Say where with --url`,
    ]);
  });
});
