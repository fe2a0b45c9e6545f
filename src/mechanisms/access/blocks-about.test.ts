import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { type Block, type Blocks, type Call, payload, type Target } from "../../contract/index.ts";
import { LiveAccess } from "./access.ts";
import { isBlockedNow } from "./blocks-about.ts";
import { NO_POLICY } from "./policy.ts";

/** Whether ann's call of it is blocked; the server "srv1" has names that begin with "pay". */
function blocked(by: Partial<Block>, kind: Target["kind"], name: string, more: Partial<Call> = {}): boolean {
  const timers = new ManualTime();
  const block = { id: "b", server: "", protocol: "", primitive: "", until: timers.now() + 1, ...by } as Block;
  const blocks = { size: 1, version: 1, of: () => [block] } as Partial<Blocks> as Blocks;
  const access = new LiveAccess(
    {
      ...{ timers, now: () => timers.now(), blocks: () => blocks },
      dottedOf: (target) => `pay.${target.name}`,
      onChange: () => undefined,
      onRefused: () => undefined,
    },
    { policy: { ...NO_POLICY, defaults: [{ tenant: "*", server: "*", policy: "opt-out" }] }, conceals: true },
  );
  const call = {
    target: { provider: "srv1", kind, name },
    input: payload("{}"),
    principal: who("ann"),
    origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    ...more,
  } as Call;
  return isBlockedNow(access, call);
}

describe("a call that runs when a block comes", () => {
  test.each<[string, Partial<Block>]>([
    ["its name in rules", { primitive: "pay.read" }],
    ["its own name", { primitive: "read" }],
    ["its server", { server: "srv1" }],
    ["its server and name", { server: "srv1", primitive: "pay.read" }],
    ["everything", {}],
  ])("is meant by %s", (_what, by) => {
    expect(blocked(by, "tool", "read")).toBe(true);
  });

  test.each<[string, Partial<Block>]>([
    ["another name", { primitive: "pay.write" }],
    ["its server's id before its name", { primitive: "srv1.read" }],
    ["another server", { server: "files", primitive: "read" }],
    ["another protocol", { protocol: "a2a" }],
    ["a block that is over", { until: 0 }],
  ])("is not meant by %s", (_what, by) => {
    expect(blocked(by, "tool", "read")).toBe(false);
  });

  const URI = "file:///docs/pay%20roll.txt";
  test.each([URI, "file:///docs/pay roll.txt", `${URI}.`, `${URI}%20`, "file:///docs/./pay%20roll.txt"])(
    "is meant by the URI that %j may be",
    (uri) => {
      expect(blocked({ primitive: URI }, "resource", uri)).toBe(true);
      expect(blocked({ primitive: `pay.${uri}` }, "resource", URI)).toBe(!uri.includes("/./"));
    },
  );

  test("is not meant by another URI, and is by a template that it is of", () => {
    expect(blocked({ primitive: URI }, "resource", "file:///docs/pub.txt")).toBe(false);
    const template: Target = { provider: "srv1", kind: "template", name: "file:///docs/{+path}" };
    const more = { templates: [template] };
    expect(blocked({ primitive: template.name }, "resource", "file:///docs/pub.txt", more)).toBe(true);
  });
});
