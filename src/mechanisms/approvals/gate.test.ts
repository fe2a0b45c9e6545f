import { describe, expect, test } from "vitest";
import { finish, MAX_ITEMS, MAX_MEMBERS, type Offer, payload, type Steps } from "../../contract/index.ts";
import { type GateMode, safetyOf, stricter } from "./gate.ts";
import { flagSafety } from "./safety-flags.ts";

const rules = (mode: GateMode) => ({ mode, evidence: "external_proof" }) as const;
const annotated = (capability: object, annotations?: object) => ({
  _meta: { "x-mcpax-capability": capability },
  ...(annotations && { annotations }),
});
const tool = (members: object) => payload(JSON.stringify({ name: "t", inputSchema: { type: "object" }, ...members }));

const IRREVERSIBLE = annotated({ mutable: true, reversible: false });

/** What a tool says; whether it is flagged, and why it waits, in each mode. */
const TABLE: readonly (readonly [string, object, boolean, (string | undefined)[]])[] = [
  ["mutable and not reversible", IRREVERSIBLE, true, ["irreversible_mutable", "irreversible_mutable"]],
  ["mutable and reversible", annotated({ mutable: true, reversible: true }), false, []],
  ["not mutable, not reversible", annotated({ mutable: false, reversible: false }), false, []],
  ["not mutable, reversible", annotated({ mutable: false, reversible: true }), false, []],
  ["mutable alone", annotated({ mutable: true }), true, ["irreversible_mutable", "irreversible_mutable"]],
  [
    "mutable as text",
    annotated({ mutable: "no", reversible: "yes" }),
    true,
    ["irreversible_mutable", "irreversible_mutable"],
  ],
  [
    "harmless, but destructive",
    annotated({ mutable: false }, { destructiveHint: true }),
    true,
    ["irreversible_mutable", "irreversible_mutable"],
  ],
  [
    "destructiveHint",
    { annotations: { destructiveHint: true } },
    true,
    ["irreversible_mutable", "irreversible_mutable"],
  ],
  [
    "both hints",
    { annotations: { destructiveHint: true, readOnlyHint: true } },
    true,
    ["irreversible_mutable", "irreversible_mutable"],
  ],
  ["not destructive", { annotations: { destructiveHint: false } }, false, []],
  ["readOnlyHint", { annotations: { readOnlyHint: true } }, false, []],
  ["nothing", {}, false, [undefined, "undeclared"]],
  ["not read-only", { annotations: { readOnlyHint: false } }, false, [undefined, "undeclared"]],
  [
    "confirmation_required",
    { security: { confirmation_required: true }, annotations: { readOnlyHint: true } },
    false,
    ["confirmation_required", "confirmation_required"],
  ],
  [
    "confirmation_required in _meta",
    { _meta: { "dev.cloto/mgp": { security: { confirmation_required: true } } }, annotations: { readOnlyHint: true } },
    false,
    ["confirmation_required", "confirmation_required"],
  ],
];

describe("a tool that declares", () => {
  test.each(TABLE)("[AX-186] %s", (_what, members, isFlagged, [declared, strict]) => {
    expect(safetyOf(tool(members), rules("declared"))).toMatchObject({ isIrreversible: isFlagged });
    expect(safetyOf(tool(members), rules("open"))).toEqual({ isIrreversible: isFlagged, gate: undefined });
    expect(safetyOf(tool(members), rules("declared")).gate?.reason).toBe(declared);
    expect(safetyOf(tool(members), rules("strict")).gate?.reason).toBe(strict);
  });

  test("something in two ways is taken at the worst", () => {
    const twice = payload('{"name":"t","annotations":{"destructiveHint":false,"destructiveHint":true}}');
    expect(safetyOf(twice, rules("declared")).gate?.reason).toBe("irreversible_mutable");
  });

  test("itself in escapes is understood", () => {
    const escaped = payload('{"name":"t","annotations":{"\\u0064estructiveHint":true}}');
    expect(safetyOf(escaped, rules("declared")).gate?.reason).toBe("irreversible_mutable");
  });

  test("[AX-192] its capability is told whole, with what it leaves out", () => {
    const given = { mutable: true, reversible: false, latency_class: "slow", schema_version: "2.1.0", extra: 1 };
    const { gate } = safetyOf(tool(annotated(given)), rules("declared"));
    expect(JSON.parse(gate?.capability ?? "")).toEqual({
      latency_class: "slow",
      consistency: "best_effort",
      mutable: true,
      reversible: false,
      idempotent: false,
      transport: "native",
      auth_scope: "write",
      cost_class: "metered",
      availability: "best_effort",
      schema_version: "2.1.0",
      extra: 1,
    });
  });
});

test("[AX-204] a rule can only add to what a tool needs", () => {
  const gate = { reason: "irreversible_mutable", evidence: "external_proof", capability: "{}" } as const;
  const rule = { effect: "confirm", source: "rule", reason: "", evidence: "session_user" } as const;
  expect(stricter(gate, rule)).toBe(gate);
  expect(stricter(undefined, rule)).toMatchObject({ reason: "rule", evidence: "session_user" });
  expect(stricter({ ...gate, evidence: "session_user" }, { ...rule, evidence: "operator" })?.evidence).toBe("operator");
});

describe("lists", () => {
  function* asIs(offers: readonly Offer[]): Steps<readonly Offer[]> {
    yield;
    return offers;
  }
  const offer = (definition: object): Offer => ({
    kind: "tool",
    primitives: [{ kind: "tool", name: "t", definition: tool(definition), repeatable: false }],
    extras: "",
  });
  const metaOf = ([shown]: readonly Offer[]) => {
    const text = shown?.primitives[0]?.definition.at(["_meta"]);
    return text === undefined ? undefined : JSON.parse(text);
  };

  test("[AX-187] flag what cannot be taken back in every mode, and say what waits", () => {
    const offers = [offer({ annotations: { destructiveHint: true } })];
    const flags = { "x-mcpax-safety": "irreversible_mutable" };
    expect(metaOf(finish(flagSafety(offers, rules("declared"), asIs)))).toEqual({ ...flags, "x-mcpax-gated": true });
    expect(metaOf(finish(flagSafety(offers, rules("open"), asIs)))).toEqual(flags);
  });

  test("leave other tools byte for byte as they are", () => {
    const offers = [offer({ annotations: { readOnlyHint: true } })];
    expect(finish(flagSafety(offers, rules("strict"), asIs))[0]).toBe(offers[0]);
  });

  test("are judged anew from what their server wrote, and so does whoever else looks at them", () => {
    const offers = [offer({})];
    const strict = finish(flagSafety(offers, rules("strict"), asIs));
    expect(metaOf(strict)).toMatchObject({ "x-mcpax-gated": true });
    const seen: unknown[] = [];
    const look = (written: readonly Offer[]) => {
      seen.push(metaOf(written));
      return asIs(written);
    };
    const open = finish(flagSafety(strict, rules("declared"), look));
    expect(seen).toEqual([undefined]);
    expect(metaOf(open)).toBeUndefined();
  });
});

test.each([
  ["keys", Object.fromEntries(Array.from({ length: MAX_MEMBERS + 1 }, (_, n) => [`k${n}`, 0]))],
  ["items", Array.from({ length: MAX_ITEMS + 1 }, () => 0)],
])("a definition with more %s than anybody reads is taken at the worst", (_what, inputSchema) => {
  const harmless = tool({ ...annotated({ mutable: false }), inputSchema });
  expect(safetyOf(harmless, rules("declared"))).toMatchObject({ isIrreversible: true });
});
