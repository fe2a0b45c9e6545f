import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { Program, ROOT } from "./kit/program.ts";
import { openSession, post, toolCall } from "./kit/rpc.ts";

async function readiness(origin: string): Promise<{ status: number; body: { status: string } }> {
  const response = await fetch(`${origin}/readyz`, { headers: { connection: "close" } });
  return { status: response.status, body: (await response.json()) as { status: string } };
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>, timeoutMs = 15_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error("it never came");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("/readyz", () => {
  test("is 503 while a server has neither listed nor failed, but not for ever", async () => {
    const silent = ["-e", "process.stdin.resume()"];
    const config = `[[servers]]\nid = "silent"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(silent)}\n`;
    await using program = new Program(["up", "--listen", "127.0.0.1:0", "--json"], { config });
    const url = await until(() => /"url":"([^"]+)"/.exec(program.stderr)?.[1]);
    const { origin } = new URL(url);
    expect(await readiness(origin)).toEqual({
      status: 503,
      body: { status: "starting", servers: { silent: "starting" } },
    });
    const later = await until(async () => {
      const now = await readiness(origin);
      return now.status === 200 ? now : undefined;
    });
    expect(later.body.status).toBe("ready");
  });

  test("is 503 while the gateway drains, and what runs is finished", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const session = await openSession(gateway.url);
    const running = post(gateway.url, toolCall(1, "hello.count", { to: 60 }), session);
    await until(async () => {
      const metrics = await (await fetch(`${gateway.origin}/metrics`)).text();
      return metrics.includes("isthmus_runs_open 1\n") || undefined;
    });
    gateway.program.child.kill("SIGTERM");
    await until(async () => ((await readiness(gateway.origin)).body.status === "draining" ? true : undefined));
    expect((await readiness(gateway.origin)).status).toBe(503);
    expect((await running).status).toBe(200);
    expect(await gateway.program.exited).toBe(0);
  });
});

describe("a drain", () => {
  test("does not wait for a client that was asked for input and may never come back", async () => {
    const server = join(ROOT, "src/providers/mcp/fixtures/stdio-server.mjs");
    const config = `[[servers]]\nid = "asks"\nera = "2025"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]\n`;
    await using gateway = await startGateway({ config });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    };
    const headers = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "asks.ask",
    };
    const asked = await post(
      gateway.url,
      { id: 1, method: "tools/call", params: { name: "asks.ask", arguments: {}, _meta } },
      headers,
    );
    expect(asked.messages[0]?.result).toMatchObject({ resultType: "input_required" });
    // `stop` kills what has not ended after half of the drain: then there is no exit code.
    expect(await gateway.stop()).toBe(0);
  });
});
