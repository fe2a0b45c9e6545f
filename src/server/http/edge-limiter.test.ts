import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { HttpRequest } from "../../contract/index.ts";
import { LOCAL } from "../../contract/index.ts";
import { twinOf } from "../../mechanisms/identity/token-twin.ts";
import { EdgeLimiter, networkOf } from "./edge-limiter.ts";

const RATE = { capacity: 2, refill: 1, periodMs: 1_000 };

function from(address: string, authorization?: string): HttpRequest {
  return {
    method: "POST",
    url: "/mcp",
    headers: Object.freeze(authorization === undefined ? {} : { authorization }),
    principal: LOCAL,
    clientAddress: address,
    body: () => undefined,
    discard: () => undefined,
  };
}

describe("EdgeLimiter", () => {
  test("turns away an address that sends too much, tells it when to come again, and nobody else [AP-153]", () => {
    const clock = new ManualTime();
    const edge = new EdgeLimiter({ address: RATE }, clock);
    const refused = () => edge.refuse(from("192.0.2.1"));
    expect([refused(), refused(), refused()]).toEqual([undefined, undefined, 1_000]);
    expect(edge.refuse(from("192.0.2.2"))).toBeUndefined();
    clock.advance(1_000);
    expect([refused(), refused()]).toEqual([undefined, 1_000]);
  });

  test("turns away a token wherever it comes from, and takes nothing of an address for that", () => {
    const edge = new EdgeLimiter({ address: { ...RATE, capacity: 3 }, token: RATE }, new ManualTime());
    expect(edge.refuse(from("192.0.2.1", "Bearer a"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.2", "Bearer a"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.3", "Bearer a"))).toBe(1_000);
    expect(edge.refuse(from("192.0.2.1", "Bearer b"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1"))).toBe(1_000);
  });

  test.each([
    "bEaReR a",
    "bearer a",
    "BEARER    a",
    "Bearer a ",
    "  Bearer a",
    "Bearer \ta",
    "Bearer\ta",
    "Bearer \u00a0a",
  ])("takes %j for the token that it is", (spelling) => {
    const edge = new EdgeLimiter({ token: RATE }, new ManualTime());
    expect(edge.refuse(from("192.0.2.1", "Bearer a"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", "Bearer a"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", spelling))).toBe(1_000);
    expect(edge.refuse(from("192.0.2.1", "Bearer b"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", "Bearer A"))).toBeUndefined();
  });

  test("takes a token with the other signature that fits for the token that it is, and no token of the same claims", () => {
    const { privateKey: key } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const make = () =>
      `a.b.${sign("sha256", Buffer.from("a.b"), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
    const [token, other] = [make(), make()];
    const edge = new EdgeLimiter({ token: { ...RATE, capacity: 1 } }, new ManualTime());
    expect(edge.refuse(from("192.0.2.1", `Bearer ${token}`))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", `Bearer ${twinOf(token, "ES256")}`))).toBe(1_000);
    expect(edge.refuse(from("192.0.2.1", `Bearer ${other}`))).toBeUndefined();
  });

  test("counts by tokens alone where it is told so", () => {
    const edge = new EdgeLimiter({ token: { ...RATE, capacity: 1 } }, new ManualTime());
    for (let index = 0; index < 5; index++) expect(edge.refuse(from("192.0.2.1"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", "Bearer a"))).toBeUndefined();
    expect(edge.refuse(from("192.0.2.1", "Bearer a"))).toBe(1_000);
  });

  test("takes all addresses of a network of version 6 for one", () => {
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe(networkOf("2001:DB8:1:2::9"));
    expect(networkOf("2001:db8:1:2::9")).not.toBe(networkOf("2001:db8:1:3::9"));
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
    expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
    expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("192.0.2.1")).toBe("192.0.2.1");
  });
});
