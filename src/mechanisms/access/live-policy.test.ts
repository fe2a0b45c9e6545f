import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type AuditEvent, type Channel, GatewayError, type PolicyChange, untracked } from "../../contract/index.ts";
import { LivePolicy } from "./live-policy.ts";
import { MemoryPolicy } from "./memory-policy.ts";

const EVENT: AuditEvent = {
  type: "dev.isthmus.policy_changed",
  tenant: "default",
  actor: { type: "operator", id: "ops" },
  target: { server: "", name: "" },
  result: "SUCCESS",
  details: {},
};

const put = (key: string): PolicyChange => ({
  table: "policy",
  type: "put",
  entry: { tenant: "default", kind: "grant", key, value: "{}", updatedAt: 1, updatedBy: "ops" },
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Several processes over one store; words between them can be lost. */
class World {
  readonly time = new ManualTime();
  readonly log = new KeptLog();
  readonly memory = new MemoryPolicy();
  readonly #listeners = new Set<(text: string) => void>();
  isDeaf = false;
  isDown = false;

  readonly channel: Channel = {
    publish: (_topic, text) => {
      if (!this.isDeaf) for (const hear of this.#listeners) hear(text);
    },
    subscribe: async (_topic, hear) => {
      this.#listeners.add(hear);
      return async () => void this.#listeners.delete(hear);
    },
  };

  async start(): Promise<LivePolicy> {
    const guarded = <T>(read: () => Promise<T>) =>
      this.isDown ? Promise.reject(new GatewayError("STATE_UNAVAILABLE")) : read();
    const rows = { load: () => guarded(() => this.memory.load()), version: () => guarded(() => this.memory.version()) };
    const policy = new LivePolicy({ rows, timers: this.time, log: this.log, channel: this.channel });
    await policy.open();
    return policy;
  }

  trail = untracked((changes) => this.memory.write(changes));
}

test("a row that stays as it is stays the same object, whatever else changes: it is not read again", async () => {
  const world = new World();
  const load = world.memory.load.bind(world.memory);
  world.memory.load = async () => structuredClone(await load());
  const policy = await world.start();
  for (const key of ["a", "b"]) await policy.change({ trail: world.trail, event: EVENT, changes: [put(key)] });
  const before = policy.entries("grant");
  const other = { ...put("b"), entry: { ...before[1], value: '{"x":1}' } } as PolicyChange;
  await policy.change({ trail: world.trail, event: EVENT, changes: [other] });
  const after = policy.entries("grant");
  expect(after.map((entry, place) => entry === before[place])).toEqual([true, false]);
  expect(after[1]).toMatchObject({ key: "b", value: '{"x":1}' });
  await policy.close();
});

const putFor = (tenant: string, value: string): PolicyChange => ({
  table: "policy",
  type: "put",
  entry: { tenant, kind: "exposure", key: "k", value, updatedAt: 1, updatedBy: "ops" },
});

const keysOf = (policy: LivePolicy) => policy.entries("grant").map(({ key }) => key);

describe("the policy that operators set", () => {
  test.each([
    ["acme", ["acme"]],
    ["globex", []],
    ["default", ["acme", "default"]],
    ["*", ["acme", "default"]],
  ])("has another version for those alone who are meant by what is said in %s", async (tenant, meant) => {
    const world = new World();
    const [here, there] = [await world.start(), await world.start()];
    const versions = (policy: LivePolicy) => ["acme", "default"].map((of) => policy.versionFor(of));
    await here.change({ trail: world.trail, event: EVENT, changes: [putFor("acme", "{}"), putFor("globex", "{}")] });
    const before = versions(here);
    await here.change({ trail: world.trail, event: EVENT, changes: [putFor(tenant, "[]")] });
    const after = versions(here);
    expect(["acme", "default"].filter((_of, at) => before[at] !== after[at])).toEqual(meant);
    await settled();
    expect(versions(there)).toEqual(after);
  });

  test("is in force where it was changed when the change is answered, and elsewhere when the word is heard", async () => {
    const world = new World();
    const [here, there] = [await world.start(), await world.start()];
    let told = 0;
    there.onChange(() => told++);
    const version = await here.change({ trail: world.trail, event: EVENT, changes: [put("a")] });
    expect(keysOf(here)).toEqual(["a"]);
    await settled();
    expect(keysOf(there)).toEqual(["a"]);
    expect([version, there.version, told]).toEqual([1, 1, 1]);
  });

  test("is in force elsewhere within 5 s where the word was lost", async () => {
    const world = new World();
    const [here, there] = [await world.start(), await world.start()];
    world.isDeaf = true;
    await here.change({ trail: world.trail, event: EVENT, changes: [put("a")] });
    await settled();
    expect(keysOf(there)).toEqual([]);
    world.time.advance(5_000);
    await settled();
    expect(keysOf(there)).toEqual(["a"]);
  });

  test("stays as it was known last while the store is away, says so once, and is read again when it is back", async () => {
    const world = new World();
    const [here, there] = [await world.start(), await world.start()];
    await here.change({ trail: world.trail, event: EVENT, changes: [put("a")] });
    await settled();
    world.isDown = true;
    await world.memory.write([put("b")]);
    for (let look = 0; look < 3; look++) {
      world.time.advance(5_000);
      await settled();
    }
    expect(keysOf(there)).toEqual(["a"]);
    expect(world.log.lines.filter(({ level }) => level === "warn")).toHaveLength(2);
    world.isDown = false;
    world.time.advance(5_000);
    await settled();
    expect(keysOf(there)).toEqual(["a", "b"]);
  });

  test("is not served without having been read once", async () => {
    const world = new World();
    world.isDown = true;
    await expect(world.start()).rejects.toThrow(GatewayError);
  });

  test("is changed only where it is what the operator saw, all of it or nothing", async () => {
    const world = new World();
    const policy = await world.start();
    const edit = (changes: readonly PolicyChange[], ifVersion?: number) =>
      policy.change({ trail: world.trail, event: EVENT, changes, ifVersion });
    await edit([put("a"), put("b")], 0);
    expect(policy.version).toBe(2);
    await expect(edit([put("c")], 1)).rejects.toMatchObject({ code: "CONFLICT", details: { version: 2 } });
    const gone: PolicyChange = { table: "policy", type: "remove", tenant: "default", kind: "grant", key: "nothing" };
    await expect(edit([put("d"), gone])).rejects.toMatchObject({ code: "CONFLICT" });
    expect(keysOf(policy)).toEqual(["a", "b"]);
    await edit([{ ...gone, key: "a" }], 2);
    expect(keysOf(policy)).toEqual(["b"]);
  });

  test("leaves no timer and no listener behind", async () => {
    const world = new World();
    const policy = await world.start();
    await policy.close();
    expect(world.time.pending).toBe(0);
    world.channel.publish("policy", "");
    await settled();
  });
});
