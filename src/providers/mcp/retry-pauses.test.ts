import { describe, expect, test, vi } from "vitest";
import { FakeOut, toolCall } from "../../../tests/kit/fake-host.ts";
import { startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

describe("does not ask without a pause, though the server wants it at once,", () => {
  /** The shortest time between two of them. */
  const shortest = (at: readonly number[]) => Math.min(...at.slice(1).map((time, index) => time - (at[index] ?? 0)));

  test("for the rest of a stream", async () => {
    const asked: number[] = [];
    let id: unknown;
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        id = exchange.message.id;
        exchange.stream().event("", "p-0", "retry: 0\n");
        exchange.end();
      },
      GET(exchange) {
        if (exchange.request.headers["last-event-id"] === undefined) return exchange.raw("", 405, {});
        asked.push(performance.now());
        if (asked.length < 3) exchange.stream().event("", `p-${asked.length}`, "retry: 0\n");
        else exchange.stream().event({ jsonrpc: "2.0", id, result: {} });
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    await setup.provider.run(toolCall("x"), new FakeOut());
    expect(shortest(asked)).toBeGreaterThan(450);
  });

  test("for its GET stream", async () => {
    const asked: number[] = [];
    await using server = await startHttpFixture({
      GET(exchange) {
        asked.push(performance.now());
        exchange.stream().event("", "p", "retry: 0\n");
        exchange.end();
      },
    });
    await using _setup = await openProvider({ url: server.url });
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(2), 5_000);
    expect(shortest(asked)).toBeGreaterThan(350);
  });
});
