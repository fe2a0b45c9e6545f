import { expect, test } from "vitest";
import { person } from "../../../tests/kit/approval-rig.ts";
import { fakeCall, fakeSession } from "../../../tests/kit/fake-host.ts";
import { type Call, PEER } from "../../contract/index.ts";
import { requesterTag } from "./requester-tag.ts";

const master = Buffer.alloc(32, 1);
const callOf = (more: Partial<Omit<Call, "input">>) => fakeCall(more);
const origin = (requester?: string) => ({
  front: "mcp",
  protocol: "2025-11-25",
  requestId: "1",
  ...(requester && { requester }),
});

test("a caller has one name in every process that knows the key, and another one elsewhere", () => {
  const call = callOf({ principal: person("ann") });
  const tag = requesterTag(master)(call);
  expect(requesterTag(master)(call)).toBe(tag);
  expect(requesterTag(Buffer.alloc(32, 2))(call)).not.toBe(tag);
  expect(requesterTag()(call)).not.toBe(tag);
  expect(tag).toMatch(/^[\w-]{43}$/);
});

test.each<[string, Partial<Omit<Call, "input">>]>([
  ["another principal", { principal: person("bob") }],
  ["the same name in another tenant", { principal: person("ann", { tenant: "acme" }) }],
  ["somebody else behind the same gateway", { principal: person("ann"), origin: origin("eve") }],
])("%s has another name", (_what, more) => {
  const tag = requesterTag(master);
  expect(tag(callOf(more))).not.toBe(tag(callOf({ principal: person("ann") })));
});

test("a caller has another name at each server, whatever it is called for there", () => {
  const at = (provider: string, name: string) =>
    requesterTag(master)(callOf({ principal: person("ann"), target: { provider, kind: "tool", name } }));
  expect(at("one", "a")).toBe(at("one", "b"));
  expect(at("one", "a")).not.toBe(at("two", "a"));
});

test("what another process of the gateway calls its caller is passed on as it is, and only what that one says", () => {
  const tag = requesterTag(master);
  const peer = { ...fakeSession("p"), isPeer: true };
  expect(tag(callOf({ principal: PEER, session: peer, origin: origin("named") }))).toBe("named");
  expect(tag(callOf({ principal: person("ann"), origin: origin("named") }))).not.toBe("named");
});
