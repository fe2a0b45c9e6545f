import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../tests/kit/quiet.ts";
import { flush } from "../../tests/kit/test-kernel.ts";
import { type Config, ConfigError } from "./config/index.ts";
import { loadConfig } from "./config/load-config.ts";
import { ConfigFollower } from "./follow-config.ts";
import type { ConfigChange } from "./gateway-types.ts";

/** A config that is told apart by its page size. */
function configOf(pageSize: number): Config {
  return loadConfig({ table: { gateway: { pageSize } }, originOf: () => undefined, files: [] }, { env: {} });
}

function follow() {
  const log = new KeptLog();
  const meter = new KeptMeter();
  const time = new ManualTime();
  const applied: (number | undefined)[] = [];
  let onDisk: Config | Error = configOf(1);
  let settled: Promise<void> = Promise.resolve();
  let config = configOf(1);
  const follower = new ConfigFollower({
    log,
    meter,
    timers: time,
    source: {
      watched: [],
      read: () => {
        if (onDisk instanceof Error) throw onDisk;
        return onDisk;
      },
    },
    gateway: {
      get config() {
        return config;
      },
      apply(next): ConfigChange {
        config = next;
        applied.push(next.gateway.pageSize);
        return { added: ["a"], changed: [], removed: [], settings: ["pageSize"], settled };
      },
    },
  });
  return {
    follower,
    log,
    meter,
    time,
    applied,
    write: (next: Config | Error) => {
      onDisk = next;
    },
    settleWith: (promise: Promise<void>) => {
      settled = promise;
    },
  };
}

describe("ConfigFollower", () => {
  test("takes over what is on disk, and says what changed", async () => {
    const { follower, write, applied, log, meter } = follow();
    write(configOf(2));
    await follower.reload();
    expect(applied).toEqual([2]);
    expect(log.lines).toMatchObject([
      { message: "config taken over", fields: { added: ["a"], settings: ["pageSize"] } },
    ]);
    expect(meter.of("isthmus_config_reloads_total ok")).toBe(1);
  });

  test("changes nothing when the config is refused, and says why in one line", async () => {
    const { follower, write, applied, log, meter } = follow();
    write(new ConfigError(["isthmus.toml:1: one", "isthmus.toml:2: two"]));
    await follower.reload();
    expect(applied).toEqual([]);
    expect(follower.isStale).toBe(true);
    expect(log.lines).toMatchObject([
      { level: "error", fields: { problems: ["isthmus.toml:1: one", "isthmus.toml:2: two"] } },
    ]);
    expect(meter.of("isthmus_config_reloads_total refused")).toBe(1);
    write(configOf(3));
    await follower.reload();
    expect(follower.isStale).toBe(false);
    expect(applied).toEqual([3]);
    expect(log.lines.at(-1)).toMatchObject({ message: "config taken over", fields: { wasRefused: true } });
    await follower.reload();
    expect(log.lines.at(-1)?.fields).not.toHaveProperty("wasRefused");
  });

  test("survives a defect while the config is read", async () => {
    const { follower, write, log } = follow();
    write(new TypeError("oops"));
    await follower.reload();
    expect(follower.isStale).toBe(true);
    expect(log.lines).toMatchObject([{ fields: { cause: { message: "oops" } } }]);
  });

  test("waits for the one before, and takes only the last of several", async () => {
    const { follower, write, applied, settleWith } = follow();
    const first = Promise.withResolvers<void>();
    settleWith(first.promise);
    write(configOf(2));
    const done = follower.reload();
    for (const size of [3, 4, 5]) {
      write(configOf(size));
      void follower.reload();
      await flush();
    }
    expect(applied).toEqual([2]);
    first.resolve();
    await done;
    expect(applied).toEqual([2, 5]);
  });

  test("leaves no timer when it is closed", () => {
    const { follower, time } = follow();
    follower.close();
    expect(time.pending).toBe(0);
  });
});
