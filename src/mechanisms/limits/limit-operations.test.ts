import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type AuditEvent, LOCAL, type Operation, type OperationContext } from "../../contract/index.ts";
import { LivePolicy, MemoryPolicy } from "../access/index.ts";
import { limitOperations } from "./limit-operations.ts";
import { TenantLimits } from "./tenant-limits.ts";

/** The example of the document, with what was decided beside it. */
const EXAMPLE = [
  {
    selector: { server: "*", primitive: "*", user: "*", wcit: "*" },
    policy: { type: "token-bucket", capacity: 1000, refill: "100/s" },
  },
  { selector: { primitive: "cc.compliance.search", user: "*", wcit: "*" }, policy: { capacity: 20, refill: "1/s" } },
  { selector: { server: "meetings", user: "*" }, per: ["user"], policy: { capacity: 60, refill: "1/s" } },
  { selector: { client: "7d1f*" }, concurrency: 5, budget: 100 },
];

async function rig() {
  const time = new ManualTime();
  const log = new KeptLog();
  const rows = new MemoryPolicy();
  const policy = new LivePolicy({ rows, timers: time, log });
  await policy.open();
  const events: AuditEvent[] = [];
  const trail = {
    note: () => undefined,
    async commit(event: AuditEvent, changes: Parameters<MemoryPolicy["write"]>[0]) {
      events.push(event);
      return await rows.write(changes);
    },
  };
  const parts = { policy, trail: () => trail, now: () => 1, requireName: () => undefined };
  const [get, put] = limitOperations(parts);
  if (!get || !put) throw new Error("expected two operations");
  const run = async ({ input, run: go }: Operation, given: object, more: Partial<OperationContext> = {}) => {
    const checked = input.check({ orgId: "org-1", ...given });
    if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
    return await go(checked.value as never, { principal: LOCAL, ...more });
  };
  return { policy, events, get, put, run, log };
}

describe("the list of limits of a tenant", () => {
  test("is taken as the document writes it, and given back so [AP-531] [AP-532] [AP-533] [AP-534]", async () => {
    const { run, get, put, policy, log } = await rig();
    expect((await run(get, {})).body).toEqual([]);
    const { body, etag } = await run(put, { body: EXAMPLE });
    expect(body).toEqual(EXAMPLE);
    expect(await run(get, {})).toEqual({ body: EXAMPLE, etag });
    expect(new TenantLimits(log).read(policy.entries("limit"))).toMatchObject([
      { owner: "org-1", rate: { capacity: 1000, refill: 100, periodMs: 1000 } },
      { rate: { capacity: 20, refill: 1, periodMs: 1000 } },
      { per: ["user"], selector: { server: "meetings" } },
      { selector: { client: "7d1f*" }, concurrency: 5, budget: 100 },
    ]);
  });

  test("is replaced as a whole, is no other tenant's, and each change is on record", async () => {
    const { run, get, put, events } = await rig();
    await run(put, { body: EXAMPLE });
    await run(put, { body: EXAMPLE.slice(1, 2) });
    expect((await run(get, {})).body).toEqual(EXAMPLE.slice(1, 2));
    expect((await run(get, { orgId: "org-2" })).body).toEqual([]);
    expect(events).toMatchObject([
      { type: "dev.isthmus.limits.replaced", tenant: "org-1", details: { limits: 4 } },
      { type: "dev.isthmus.limits.replaced", details: { limits: 1 } },
    ]);
  });

  test("is not what the platform has set for it: neither takes the other's place", async () => {
    const { run, get, put, policy, log } = await rig();
    const principal = who("boss", { tenant: "org-1", role: "admin" });
    await run(put, { body: EXAMPLE.slice(0, 1) });
    await run(put, { body: EXAMPLE.slice(1, 2) }, { principal });
    await run(put, { body: [] }, { principal });
    expect((await run(get, {})).body).toEqual(EXAMPLE.slice(0, 1));
    expect(new TenantLimits(log).read(policy.entries("limit"))).toMatchObject([{ rate: { capacity: 1000 } }]);
  });

  test("is not replaced by who has read another version", async () => {
    const { run, get, put } = await rig();
    const { etag = "" } = await run(put, { body: EXAMPLE });
    await run(put, { body: [] }, { ifMatch: etag });
    await expect(run(put, { body: EXAMPLE }, { ifMatch: etag })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(run(put, { body: EXAMPLE }, { ifMatch: "x" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await run(get, {})).body).toEqual([]);
  });

  test.each([
    [{ selector: {} }, "limits nothing"],
    [{ selector: {}, policy: { type: "leaky-bucket", capacity: 1, refill: "1/s" } }, "/body/1/policy/type"],
    [{ selector: {}, policy: { capacity: 0, refill: "1/s" } }, "/body/1/policy/capacity"],
    [{ selector: {}, policy: { capacity: 1, refill: "1/w" } }, "/body/1/policy/refill"],
    [{ selector: { team: "x" }, budget: 1 }, "/body/1/selector"],
    [{ selector: { client: "a", wcit: "b" }, budget: 1 }, "client and wcit"],
    [{ selector: {}, per: ["user", "user"], budget: 1 }, "each word once"],
    [{ selector: {}, policy: { capacity: 100_000_000, refill: "0.001/d" } }, "counted exactly"],
    [{ selector: { user: "x".repeat(513) }, budget: 1 }, "/body/1/selector/user"],
  ])("names the entry that is wrong: %j", async (wrong, told) => {
    const { run, put, get } = await rig();
    const refused = run(put, { body: [EXAMPLE[0], wrong] });
    await expect(refused).rejects.toThrow("/body/1");
    await expect(refused).rejects.toThrow(told);
    expect((await run(get, {})).body).toEqual([]);
  });

  test("has an end", async () => {
    const { run, put } = await rig();
    const body = Array.from({ length: 1_001 }, () => EXAMPLE[0]);
    await expect(run(put, { body })).rejects.toThrow("/body");
  });

  test("that cannot be read leaves in force what was, says so, and is refused at the start", () => {
    const log = new KeptLog();
    const limits = new TenantLimits(log);
    const row = { tenant: "org-1", kind: "limit", key: "list", updatedAt: 1, updatedBy: "x" } as const;
    const good = { ...row, value: JSON.stringify([{ selector: { server: "meetings" }, concurrency: 5 }]) };
    const newer = { ...row, value: '[{"new":1}]' };
    expect(limits.read([good])).toMatchObject([{ owner: "org-1", concurrency: 5 }]);
    limits.requireAll();
    expect(limits.read([newer])).toMatchObject([{ owner: "org-1", concurrency: 5 }]);
    expect(() => limits.requireAll()).toThrow('The row {"tenant":"org-1","kind":"limit","key":"list"}');
    expect(log.lines).toMatchObject([{ level: "error", fields: { tenant: "org-1" } }]);
    expect(limits.read([])).toEqual([]);
    expect(limits.read([newer])).toEqual([]);
  });
});
