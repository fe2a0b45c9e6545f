import { describe, expect, test, vi } from "vitest";
import { fakeSession } from "../../../tests/kit/fake-host.ts";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type Exchange, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const KIB = 1024;

/** A provider over a server that says this of itself, in either era. */
async function opened(says: () => object) {
  const log = new KeptLog();
  const serverInfo = { name: "wordy", version: "1" };
  const server = await startHttpFixture({
    initialize: (exchange: Exchange) =>
      exchange.result({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo, ...says() }),
  });
  const setup = await openProvider({ url: server.url }, { log });
  return {
    ...setup,
    log,
    async [Symbol.asyncDispose]() {
      await setup.provider.close();
      await server.stop();
    },
  };
}

describe("what a server says of itself", () => {
  test("instructions that are too long are cut, and the log says so once", async () => {
    await using it = await opened(() => ({ instructions: "i".repeat(1000 * KIB) }));
    await vi.waitFor(() => expect(it.host.states.at(-1)?.about?.instructions).toBe("i".repeat(64 * KIB)));
    for (const id of ["a", "b", "c"]) await it.provider.scope(fakeSession(id, { capabilities: { elicitation: {} } }));
    expect(it.log.lines.filter(({ message }) => message.startsWith("instructions of the server cut"))).toHaveLength(1);
  });

  test("capabilities that are too long open no session, and the server's state says why", async () => {
    await using it = await opened(() => ({ capabilities: { tools: {}, experimental: { x: "x".repeat(100 * KIB) } } }));
    await vi.waitFor(() =>
      expect(it.host.states.at(-1)).toMatchObject({ message: expect.stringContaining("65536 bytes") }),
    );
  });

  test("is kept once for all sessions of clients", async () => {
    const words = { instructions: "i".repeat(60 * KIB), capabilities: { experimental: { x: "x".repeat(60 * KIB) } } };
    await using it = await opened(() => words);
    const open = (id: string) => it.provider.scope(fakeSession(id, { capabilities: { elicitation: {} } }));
    await open("first");
    const held = await bytesHeldAfter(async () => {
      for (let number = 0; number < 60; number++) await open(`client-${number}`);
    });
    expect(held).toBeLessThan(60 * 80 * KIB);
  });
});
