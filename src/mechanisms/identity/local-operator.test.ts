import { describe, expect, test } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { contentDigest, type HttpRequest, operatorCredentials } from "../../contract/index.ts";
import { LocalOperator } from "./local-operator.ts";

const TOKEN = `isop_${"A".repeat(43)}`;
const NOW = Date.UTC(2026, 0, 15);
const clock = { now: () => 0 };
const log = new KeptLog();
const audit = { note: () => undefined, commit: async () => true };
const request = (authorization: string | undefined, address = "127.0.0.1", more = {}) =>
  ({ headers: { ...(authorization !== undefined && { authorization }), ...more }, peer: { address } }) as HttpRequest;

describe("whoever runs a gateway that others are known to, too", () => {
  const operator = new LocalOperator({ token: TOKEN, audit, clock, log, now: () => NOW, isAmongOthers: true });

  test("is known by the word, on this machine, as an admin", () => {
    for (const address of ["127.0.0.1", "::1"])
      expect(operator.of(request(`bEaReR ${TOKEN}`, address))?.identity).toMatchObject({
        role: "admin",
        proof: "token",
      });
  });

  test.each([
    ["nothing", undefined, "127.0.0.1", {}],
    ["another word", `Bearer isop_${"B".repeat(43)}`, "127.0.0.1", {}],
    ["a part of it", `Bearer ${TOKEN.slice(0, -1)}`, "127.0.0.1", {}],
    ["two of them", `Bearer ${TOKEN} ${TOKEN}`, "127.0.0.1", {}],
    ["another scheme", `Basic ${TOKEN}`, "127.0.0.1", {}],
    ["the word from elsewhere", `Bearer ${TOKEN}`, "10.0.0.7", {}],
    ["the word through a proxy", `Bearer ${TOKEN}`, "127.0.0.1", { "x-forwarded-for": "10.0.0.7" }],
  ])("is not known by %s", (_what, authorization, address, headers) => {
    expect(operator.of(request(authorization, address, headers))).toBeUndefined();
  });
});

describe("the operator's token in a form", () => {
  test("is good from this machine, and where others are known, too, from nowhere else", () => {
    const alone = new LocalOperator({ token: TOKEN, audit, clock, log, now: () => NOW });
    const among = new LocalOperator({ token: TOKEN, audit, clock, log, now: () => NOW, isAmongOthers: true });
    const far = request(undefined, "10.0.0.7");
    const passedOn = request(undefined, "127.0.0.1", { via: "1.1 proxy" });
    expect(among.ofToken(request(undefined), TOKEN)?.id).toBe("operator");
    expect([far, passedOn].map((one) => among.ofToken(one, TOKEN))).toEqual([undefined, undefined]);
    expect(alone.ofToken(far, TOKEN)?.id).toBe("operator");
    expect(among.ofToken(request(undefined), `${TOKEN}A`)).toBeUndefined();
  });
});

describe("a proof of the operator's token", () => {
  const PORT = 7411;
  const reached = { address: "127.0.0.1", port: PORT };
  const made = { ...reached, method: "POST", url: "/api/access/grant?a=1", digest: contentDigest("{}", "utf8") };
  const rig = () => {
    const time = { now: NOW };
    const operator = new LocalOperator({ token: TOKEN, audit, clock, log, now: () => time.now });
    operator.listensOn({ port: PORT });
    return { operator, time };
  };
  const asking = (
    { method, url, digest } = made,
    authorization = operatorCredentials(TOKEN, made, NOW),
    at = reached,
  ) => {
    const peer = { address: "127.0.0.1", reached: at };
    return { method, url, headers: { authorization, "content-digest": digest }, peer } as never;
  };

  test("is as good as the token, for its request and once", () => {
    const { operator, time } = rig();
    const credentials = operatorCredentials(TOKEN, made, NOW);
    const request = asking(made, credentials);
    expect(operator.of(request)?.id).toBe("operator");
    // The same request is looked at again while its body comes.
    expect(operator.of(request)?.id).toBe("operator");
    for (const later of [NOW, NOW + 30_000, NOW + 60_000, NOW + 60_001, NOW + 600_000]) {
      time.now = later;
      expect(operator.of(asking(made, credentials))).toBeUndefined();
    }
  });

  test.each([
    ["another method", { method: "DELETE" }],
    ["another path", { url: "/api/access/revoke?a=1" }],
    ["another query", { url: "/api/access/grant?a=2" }],
    ["another body", { digest: contentDigest("{ }", "utf8") }],
    ["no digest of the body", { digest: undefined as never }],
  ])("is none for %s", (_what, other) => {
    expect(rig().operator.of(asking({ ...made, ...other }))).toBeUndefined();
  });

  test.each([
    ["made with another token", operatorCredentials(`${TOKEN}A`, made, NOW)],
    ["made for another port", operatorCredentials(TOKEN, { ...made, port: 7412 }, NOW)],
    ["made for another address", operatorCredentials(TOKEN, { ...made, address: "::1" }, NOW)],
    ["made more than a minute ago", operatorCredentials(TOKEN, made, NOW - 60_001)],
    ["made for a time to come", operatorCredentials(TOKEN, made, NOW + 60_001)],
    ["with nothing in it", "Isthmus-Operator "],
  ])("is none where it is %s", (_what, credentials) => {
    expect(rig().operator.of(asking(made, credentials))).toBeUndefined();
  });

  test("is good where IPv4 is a part of IPv6", () => {
    const at = { ...reached, address: "::ffff:127.0.0.1" };
    expect(rig().operator.of(asking(made, operatorCredentials(TOKEN, made, NOW), at))?.id).toBe("operator");
  });

  test("is none on pages, where nobody looks at digests", () => {
    const page = { ...made, url: "/approvals/x" };
    expect(rig().operator.of(asking(page, operatorCredentials(TOKEN, page, NOW)))).toBeUndefined();
  });
});
