import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { type DeliveryRows, GatewayError, type Records } from "../../contract/index.ts";
import { openSqlite, type SqliteConnection } from "../../stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../stores/sqlite/records.ts";
import { createDelivery, type Deliveries, type DeliveryOptions, type OutboundMessage, SendFailure } from "./index.ts";

let folder: string;
let connection: SqliteConnection;
let records: Records;
let time: ManualTime;
let meter: KeptMeter;
let log: KeptLog;
let open: Deliveries[];
/** What reached the sender, and what it does with it: `answer` is replaced by the tests. */
let got: OutboundMessage[];
let answer: (message: OutboundMessage, signal: AbortSignal) => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-delivery-"));
  connection = await openSqlite(join(folder, "isthmus.db"));
  records = await openSqliteRecords({ connection });
  [time, meter, log] = [new ManualTime(), new KeptMeter(), new KeptLog()];
  [open, got, answer] = [[], [], async () => undefined];
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  connection.close();
  rmSync(folder, { recursive: true, force: true });
  expect(time.pending).toBe(0);
});

const wall = () => 1_800_000_000_000 + time.now();

function create(options: Partial<DeliveryOptions> = {}, isStarted = true): Deliveries {
  const sender = (message: OutboundMessage, signal: AbortSignal) => {
    got.push(message);
    return answer(message, signal);
  };
  const senders = new Map([["hook", sender]]);
  const made = createDelivery({
    records,
    clock: time,
    timers: time,
    log,
    meter,
    senders,
    random: () => 0.5,
    now: wall,
    ...options,
  });
  open.push(made);
  if (isStarted) made.start();
  return made;
}

const message = (change: object = {}) => ({ channel: "hook", target: "t", body: "b", ttlMs: 10_000_000, ...change });
const settled = (outcome: string, times = 1) =>
  vi.waitFor(() => expect(meter.of(`isthmus_deliveries_total ${outcome}`)).toBe(times));
const sends = (times: number) => vi.waitFor(() => expect(got).toHaveLength(times));
/** Lets everything end that does not wait for the clock. */
const rest = async () => {
  await records.deliveries.count();
  await new Promise((resolve) => setImmediate(resolve));
  await records.deliveries.count();
};
const empty = () => vi.waitFor(async () => expect(await records.deliveries.count()).toBe(0));
const fail = (options?: ConstructorParameters<typeof SendFailure>[1]) => async () => {
  throw new SendFailure("no", options);
};

describe("delivery", () => {
  test("sends what was added, with its id, and forgets it", async () => {
    const delivery = create();
    const id = await delivery.add(message({ target: "there", body: "hello" }));
    await settled("sent");
    expect(got).toEqual([{ id, target: "there", body: "hello", attempt: 1 }]);
    await empty();
    expect(await records.deliveries.failed(1)).toEqual([]);
  });

  test("only keeps until it is started, and sends what another process has added", async () => {
    const id = await create({}, false).add(message());
    await rest();
    expect(got).toEqual([]);
    create();
    await settled("sent");
    expect(got).toMatchObject([{ id }]);
  });

  test("finds by itself what another process has added later", async () => {
    const [other] = [create({}, false), create()];
    await rest();
    await other.add(message());
    time.advance(1_000);
    await settled("sent");
  });

  test("tries again after a wait that doubles, of which chance takes a part", async () => {
    answer = fail();
    await create().add(message());
    for (const [tries, wait] of [
      [1, 500],
      [2, 1_000],
      [3, 2_000],
    ] as const) {
      await settled("retried", tries);
      await rest();
      time.advance(wait - 1);
      await rest();
      expect(got).toHaveLength(tries);
      // Waits longer than a look are found with the next look.
      time.advance(1_001);
      await sends(tries + 1);
    }
    expect(got.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(new Set(got.map(({ id }) => id)).size).toBe(1);
  });

  test("waits as long as the receiver asks, within a bound", async () => {
    answer = fail({ retryAfterMs: 9_000 });
    await create({ limits: { maxRetryAfterMs: 5_000 } }).add(message());
    await settled("retried");
    const begun = time.now();
    for (let second = 0; second < 4; second++) {
      await rest();
      time.advance(1_000);
    }
    await rest();
    expect(got).toHaveLength(1);
    await vi.waitFor(async () => {
      time.advance(1_000);
      await rest();
      expect(got).toHaveLength(2);
    });
    expect(time.now() - begun).toBeLessThan(9_000);
  });

  test("gives up at once what is hopeless, and keeps why", async () => {
    answer = fail({ isHopeless: true });
    const id = await create().add(message());
    await settled("failed");
    await empty();
    expect(await records.deliveries.failed(2)).toMatchObject([{ id, attempts: 1, lastError: "no" }]);
    expect(log.lines).toMatchObject([{ message: "delivery given up" }]);
  });

  test("gives up after a number of tries", async () => {
    answer = async () => {
      throw new Error("down\0");
    };
    await create({ random: () => 0, limits: { maxAttempts: 3 } }).add(message());
    await settled("failed");
    expect(got).toHaveLength(3);
    await empty();
    expect(await records.deliveries.failed(1)).toMatchObject([{ attempts: 3, lastError: "down " }]);
  });

  test("gives up what has ended each process that took it, without another try", async () => {
    const id = await create({}, false).add(message());
    for (let tries = 0; tries < 3; tries++) {
      await records.deliveries.take(wall(), 1, 60_000);
      await records.deliveries.retry(id, wall(), "");
    }
    create({ limits: { maxAttempts: 3 } });
    await settled("failed");
    expect(got).toEqual([]);
    await empty();
    expect(await records.deliveries.failed(1)).toMatchObject([{ id, lastError: "no process survived sending it" }]);
  });

  test("gives up when the next try would come too late", async () => {
    answer = fail();
    await create().add(message({ ttlMs: 500 }));
    await settled("expired");
    expect(got).toHaveLength(1);
  });

  test("never sends what has expired", async () => {
    const id = await create({}, false).add(message({ ttlMs: 5 }));
    time.advance(5);
    create();
    await settled("expired");
    expect(got).toEqual([]);
    await empty();
    expect(await records.deliveries.failed(1)).toMatchObject([{ id, lastError: "it expired" }]);
  });

  test("keeps the order of those that have one, while others go on", async () => {
    answer = async ({ body, attempt }) => {
      if (body === "1" && attempt < 3) throw new Error("not yet");
    };
    const delivery = create({ random: () => 0 });
    for (const body of ["1", "2", "3"]) await delivery.add(message({ body, order: "o" }));
    await delivery.add(message({ body: "free" }));
    await vi.waitFor(async () => {
      time.advance(1_000);
      await rest();
      expect(meter.of("isthmus_deliveries_total sent")).toBe(4);
    });
    expect(got.filter(({ body }) => body !== "free").map(({ body }) => body)).toEqual(["1", "1", "1", "2", "3"]);
  });

  test("sends only so many at one time", async () => {
    const ends: (() => void)[] = [];
    answer = () => new Promise((resolve) => ends.push(resolve));
    const delivery = create({ limits: { concurrency: 2 } });
    for (let count = 0; count < 5; count++) await delivery.add(message());
    await sends(2);
    await rest();
    time.advance(1_000);
    await rest();
    expect(got).toHaveLength(2);
    ends.shift()?.();
    await sends(3);
    answer = async () => undefined;
    for (const end of ends) end();
    await settled("sent", 5);
  });

  test("ends a send that takes too long, whatever the sender does, and tries again", async () => {
    answer = () => new Promise(() => undefined);
    await create({ random: () => 0 }).add(message());
    await sends(1);
    answer = async () => undefined;
    time.advance(30_000);
    await settled("retried");
    await rest();
    time.advance(1_000);
    await settled("sent");
  });

  test("a message whose channel nobody here knows waits for somebody who does", async () => {
    await create({ senders: new Map(), limits: { maxAttempts: 2 } }).add(message());
    for (const tries of [1, 2, 3]) {
      await settled("retried", tries);
      await rest();
      time.advance(3_000);
    }
    await open[0]?.close();
    time.advance(3_000);
    create();
    await settled("sent");
  });

  test("does not send again what has arrived while its store was away", async () => {
    let isAway = true;
    const rows = new Proxy(records.deliveries, {
      get(target, name: keyof DeliveryRows) {
        if (name === "done" && isAway) return () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
        return target[name].bind(target);
      },
    });
    const store = { deliveries: rows, isUp: true, onHealth: () => () => undefined };
    await create({ records: store, limits: { leaseMs: 0 } }).add(message());
    await settled("sent");
    for (let round = 0; round < 3; round++) {
      time.advance(1_000);
      await rest();
    }
    isAway = false;
    await vi.waitFor(async () => {
      time.advance(1_000);
      expect(await records.deliveries.count()).toBe(0);
    });
    expect(got).toHaveLength(1);
  });

  test("is not moved by a wall clock that is set", async () => {
    let wall = 1_800_000_000_000;
    const delivery = create({ now: () => wall });
    answer = fail();
    await delivery.add(message({ ttlMs: 60_000 }));
    await settled("retried");
    for (const jump of [10 ** 10, -2 * 10 ** 10]) {
      wall += jump;
      await rest();
      time.advance(3_000);
      await vi.waitFor(() => expect(got.length).toBeGreaterThan(1));
    }
    expect(meter.of("isthmus_deliveries_total expired")).toBe(0);
  });

  test("refuses what is too large, and more than may wait", async () => {
    const delivery = create({ limits: { maxBytes: 3, maxWaiting: 0 } }, false);
    await expect(delivery.add(message({ body: "éé" }))).rejects.toMatchObject({ code: "BAD_CALL" });
    await expect(delivery.add(message())).rejects.toMatchObject({ code: "OVERLOADED" });
  });
});

describe("closing delivery", () => {
  test("lets a running send end, and takes nothing more", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = () => promise;
    const delivery = create();
    await delivery.add(message());
    await sends(1);
    const closed = delivery.close();
    await delivery.add(message());
    resolve();
    await closed;
    expect(meter.of("isthmus_deliveries_total sent")).toBe(1);
    expect(await records.deliveries.count()).toBe(1);
  });

  test("gives back what it was just taking", async () => {
    const delivery = create({}, false);
    await delivery.add(message());
    delivery.start();
    await delivery.close();
    expect(got).toEqual([]);
    create();
    await settled("sent");
    expect(got).toMatchObject([{ attempt: 2 }]);
  });

  test("breaks off what does not end, and leaves it to the next at once", async () => {
    answer = (_message, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const delivery = create();
    await delivery.add(message());
    await sends(1);
    const closed = delivery.close();
    time.advance(5_000);
    await closed;
    answer = async () => undefined;
    create();
    await settled("sent");
    expect(got.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
});
