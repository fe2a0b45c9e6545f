import { describe, expect, test } from "vitest";
import { GatewayError, type LogItem, type Logs } from "../../contract/index.ts";
import { LogWriter } from "./log-writer.ts";

const BOUNDS = { maxItems: 10, maxBytes: 1000, ttlMs: 1000 };
const item = (sequence: number): LogItem => ({ sequence, text: String(sequence) });

function rig() {
  const written: string[] = [];
  const store = { isAway: false, gate: Promise.resolve() };
  const logs = {
    async append(_log: string, items: readonly LogItem[]) {
      await store.gate;
      if (store.isAway) throw new GatewayError("STATE_UNAVAILABLE");
      written.push(items.map(({ sequence }) => sequence).join(" "));
    },
    async remove(_log: string, sequence: number) {
      written.push(`-${sequence}`);
    },
  } as unknown as Logs;
  const writer = new LogWriter({ logs, log: "x", bounds: () => BOUNDS, point: "test.log" });
  return { written, store, writer };
}

describe("LogWriter", () => {
  test("writes what is said in one go in one trip, in order", async () => {
    const { writer, written } = rig();
    for (const n of [1, 2, 3]) writer.append(item(n));
    await writer.flush();
    writer.append(item(4));
    await writer.flush();
    expect(written).toEqual(["1 2 3", "4"]);
  });

  test("keeps what could not be written, and sends it before the next", async () => {
    const { writer, written, store } = rig();
    store.isAway = true;
    writer.append(item(1));
    await writer.flush();
    store.isAway = false;
    writer.append(item(2));
    await writer.flush();
    expect(written).toEqual(["1 2"]);
  });

  test("takes back what is waiting, and what is being written after it was", async () => {
    const { writer, written, store } = rig();
    const gate = Promise.withResolvers<void>();
    store.gate = gate.promise;
    writer.append(item(1));
    await Promise.resolve();
    await Promise.resolve();
    writer.append(item(2));
    writer.remove(1);
    writer.remove(2);
    gate.resolve();
    await writer.flush();
    expect(written).toEqual(["1", "-1", "-2"]);
  });

  test("writes nothing after it was stopped, and says when the last is through", async () => {
    const { writer, written, store } = rig();
    const gate = Promise.withResolvers<void>();
    store.gate = gate.promise;
    writer.append(item(1));
    await Promise.resolve();
    await Promise.resolve();
    writer.append(item(2));
    const stopped = writer.stop();
    writer.append(item(3));
    gate.resolve();
    await stopped;
    await writer.flush();
    expect(written).toEqual(["1"]);
  });
});
