import { describe, expect, test } from "vitest";
import { ACME, ADMIN, PolicyRig } from "../../../../tests/kit/policy-rig.ts";
import { isOfferedAt, placeFault } from "./exact-place.ts";
import type { AccessOperationParts, OfferedPrimitive } from "./parts.ts";

const one = (server: string, kind: OfferedPrimitive["kind"], name: string, dotted: string, shown = dotted) => ({
  ...{ server, kind, name, dotted, shown },
});
/** The names of "srv1" begin with "pay"; "away" offers nothing now. */
const PRIMITIVES: readonly OfferedPrimitive[] = [
  one("files", "tool", "read", "files.read", "files__read"),
  one("files", "tool", "odd*name", "files.odd*name"),
  one("files", "template", "file:///{path*}", "files.file:///{path*}"),
  one("srv1", "tool", "send", "pay.send", "pay__send"),
];
const STEMS = new Map([
  ["files", "files"],
  ["pay", "srv1"],
  ["away", "away"],
]);

function partsOf(exposed: object[] = []): AccessOperationParts {
  const rig = new PolicyRig();
  rig.access.use({
    conceals: true,
    policy: {
      ...rig.access.policy,
      defaults: [{ tenant: "*", server: "*", policy: "opt-out" }],
      exposures: exposed as [],
    },
  });
  return {
    ...{ access: rig.access, policy: rig.policy, trail: () => rig.trail, now: () => rig.time.now() },
    primitives: () => PRIMITIVES,
    hasServer: (id) => ["files", "srv1", "away"].includes(id),
    dottedOf: ({ provider, name }) => `${provider === "srv1" ? "pay" : provider}.${name}`,
    targetOf(dotted) {
      const stem = dotted.slice(0, dotted.indexOf("."));
      const server = STEMS.get(stem);
      return server === undefined ? undefined : { server, name: dotted.slice(stem.length + 1) };
    },
  };
}

describe("a place that stands for one server, or one primitive", () => {
  test.each<[object]>([
    [{}],
    [{ server: "files" }],
    [{ server: "away" }],
    [{ primitive: "files.read" }],
    [{ primitive: "read" }],
    [{ server: "files", primitive: "read" }],
    [{ server: "files", primitive: "files.read" }],
    [{ server: "away", primitive: "anything" }],
    [{ primitive: "files.nothing" }],
    [{ primitive: "files.odd*name" }],
    [{ primitive: "files.file:///{path*}" }],
    [{ server: "files", primitive: "file:///other/{path*}" }],
    [{ server: "files", primitive: "file:///docs/pay%20roll.txt" }],
  ])("is right: %j", (place) => {
    expect(placeFault(partsOf(), ADMIN, place)).toBeUndefined();
  });

  test.each<[place: object, field: string, meant: object | undefined, more?: object]>([
    [{ server: "*" }, "server", {}],
    [{ server: "*", primitive: "read" }, "server", { primitive: "read" }],
    [{ server: "fil*" }, "server", undefined, { isPattern: true }],
    [{ server: "filez" }, "server", undefined],
    [{ server: "pay" }, "server", { server: "srv1" }],
    [{ server: "pay", primitive: "send" }, "server", { server: "srv1", primitive: "send" }],
    [{ primitive: "*" }, "primitive", {}],
    [{ server: "files", primitive: "*" }, "primitive", { server: "files" }],
    [{ primitive: "files.*" }, "primitive", { server: "files" }],
    [{ primitive: "pay__*" }, "primitive", { server: "srv1" }],
    [{ server: "files", primitive: "pay.*" }, "primitive", undefined, { isPattern: true }],
    [{ primitive: "files.re*" }, "primitive", undefined, { isPattern: true }],
    [{ primitive: "file:///docs/*" }, "primitive", undefined, { isPattern: true }],
    [{ primitive: "files__read" }, "primitive", { primitive: "files.read" }],
    [{ server: "files", primitive: "files__read" }, "primitive", { server: "files", primitive: "read" }],
    [{ primitive: "files.FILE:///docs/x" }, "primitive", { primitive: "files.file:///docs/x" }],
    [{ primitive: "files.file:///docs/../x" }, "primitive", undefined],
  ])("is wrong, and what to write is told: %j", (place, field, meant, more = {}) => {
    const fault = placeFault(partsOf(), ADMIN, place);
    expect(fault).toMatchObject({ field, message: expect.any(String), ...more });
    expect(JSON.parse(JSON.stringify(fault?.meant ?? null))).toEqual(meant ?? null);
    if (fault?.meant) expect(placeFault(partsOf(), ADMIN, fault.meant)).toBeUndefined();
  });

  test("is no server to whoever is of a tenant that has nothing of it", () => {
    const hidden = partsOf([{ tenant: "acme", server: "srv1", protocol: "*", primitive: "", enabled: false }]);
    const none = placeFault(hidden, ACME, { server: "none" });
    for (const server of ["srv1", "pay"]) expect(placeFault(hidden, ACME, { server })).toEqual(none);
    expect(placeFault(hidden, ACME, { primitive: "pay__send" })).toBeUndefined();
    for (const primitive of ["pay.send", "pay.nothing", "nobodys.send"])
      expect(isOfferedAt(hidden, ACME, { primitive })).toBe(false);
    expect(placeFault(hidden, ADMIN, { server: "srv1" })).toBeUndefined();
    for (const server of ["files", "away"]) expect(placeFault(hidden, ACME, { server })).toBeUndefined();
  });

  test.each<[place: object, is: boolean | undefined]>([
    [{ server: "files" }, undefined],
    [{ primitive: "files.read" }, true],
    [{ primitive: "read" }, true],
    [{ server: "srv1", primitive: "pay.send" }, true],
    [{ server: "srv1", primitive: "read" }, false],
    [{ primitive: "pay.read" }, false],
    [{ primitive: "nobodys.read" }, false],
    [{ primitive: "nothing" }, false],
    [{ server: "away", primitive: "read" }, undefined],
    [{ primitive: "away.read" }, undefined],
    [{ primitive: "files.file:///x" }, undefined],
  ])("has something now, or not, or nobody can tell: %j", (place, is) => {
    expect(isOfferedAt(partsOf(), ADMIN, place)).toBe(is);
  });
});
