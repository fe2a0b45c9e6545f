import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIp } from "./ip-address.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const TRUSTED = ["10.0.0.0/8", "::1", "fd00::/8"];
const ask = (peer: string, headers: Record<string, string>, trusted = TRUSTED) =>
  new TrustedProxies(trusted).addressOf(peer, headers);
const list = (text: string, peer = "10.0.0.1") => ask(peer, { "x-forwarded-for": text });
const forwarded = (text: string, peer = "10.0.0.1") => ask(peer, { forwarded: text });

describe("the address of a client", () => {
  test("is the other end of its connection when nobody is trusted [AP-090]", () => {
    const headers = { "x-forwarded-for": "6.6.6.6", forwarded: "for=6.6.6.6" };
    expect(ask("127.0.0.1", headers, [])).toBe("127.0.0.1");
    expect(ask("::ffff:192.0.2.1", headers, [])).toBe("192.0.2.1");
    expect(ask("fe80::1%eth0", headers, [])).toBe("fe80::1");
  });

  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["6.6.6.6, 192.0.2.1", "192.0.2.1"],
    ["6.6.6.6,192.0.2.1,10.2.0.1 , 10.3.0.1", "192.0.2.1"],
    ["192.0.2.1:4711", "192.0.2.1"],
    ["[2001:DB8::1]:4711", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:192.0.2.1, ::ffff:10.0.0.9", "192.0.2.1"],
    ["10.2.0.1, fd00::7", "10.2.0.1"],
    ["", "10.0.0.1"],
    ["192.0.2.1,", "10.0.0.1"],
    ["6.6.6.6, unknown, 10.2.0.1", "10.2.0.1"],
    ["6.6.6.6, , 10.2.0.1", "10.2.0.1"],
    ["6.6.6.6, 192.0.2.1:port", "10.0.0.1"],
    ["6.6.6.6, [192.0.2.1", "10.0.0.1"],
    ["6.6.6.6, fe80::1%eth0", "10.0.0.1"],
    ["6.6.6.6 7.7.7.7", "10.0.0.1"],
  ])("is, behind a trusted proxy that says %j, %s [AP-090]", (text, address) => {
    expect(list(text)).toBe(address);
  });

  test.each([
    ["for=192.0.2.1", "192.0.2.1"],
    ["for=6.6.6.6, FOR=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"],
    ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ['for="192.0.2.1:_port"; host=a, proto=http;for="10.2.0.1"', "192.0.2.1"],
    ['for="6.6.6.6, for=192.0.2.1', "192.0.2.1"],
    ['for=192.0.2.1;host="a;for=6.6.6.6"', "192.0.2.1"],
    ['for=192.0.2.1;host="a,for=6.6.6.6"', "10.0.0.1"],
    ["for=6.6.6.6, for=unknown", "10.0.0.1"],
    ["for=6.6.6.6, for=_hidden, for=10.2.0.1", "10.2.0.1"],
    ["for=6.6.6.6, proto=https", "10.0.0.1"],
    ["for=192.0.2.1;for=6.6.6.6", "10.0.0.1"],
    ["for=[2001:db8::1]", "10.0.0.1"],
    ["192.0.2.1", "10.0.0.1"],
  ])("is, behind a trusted proxy that says Forwarded: %s, %s", (text, address) => {
    expect(forwarded(text)).toBe(address);
  });

  test("is read from Forwarded only where there is no X-Forwarded-For", () => {
    expect(ask("::1", { "x-forwarded-for": "192.0.2.1", forwarded: "for=6.6.6.6" })).toBe("192.0.2.1");
    expect(ask("::1", { "x-forwarded-for": "nobody", forwarded: "for=6.6.6.6" })).toBe("::1");
  });

  test("is found once for all requests with the same head", () => {
    const headers = { "x-forwarded-for": "192.0.2.1" };
    const proxies = new TrustedProxies(TRUSTED);
    expect(proxies.addressOf("10.0.0.1", headers)).toBe("192.0.2.1");
    headers["x-forwarded-for"] = "192.0.2.2";
    expect(proxies.addressOf("10.0.0.1", headers)).toBe("192.0.2.1");
  });

  const anyHeader = fc.oneof(
    fc.string(),
    fc
      .array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom("10.0.0.9", "::1", "for=1.1.1.1", 'for="', "unknown")))
      .map((entries) => entries.join(", ")),
  );
  const outside = fc
    .oneof(fc.ipV4(), fc.ipV6())
    .filter((text) => ask(text, {}, []) === ask(text, {}) && !isTrusted(text));

  test("is not changed by anything that somebody says who is not trusted [AP-090]", () => {
    fc.assert(
      fc.property(outside, anyHeader, anyHeader, (peer, one, other) => {
        const headers = { "x-forwarded-for": one, forwarded: other };
        expect(ask(peer, headers)).toBe(ask(peer, {}));
      }),
      { numRuns: 1000 },
    );
  });

  test("is not changed by what a client wrote before a trusted proxy added the client's address [AP-090]", () => {
    fc.assert(
      fc.property(outside, anyHeader, fc.nat({ max: 3 }), (client, forged, more) => {
        const way = [client, ...Array.from({ length: more }, (_, index) => `10.0.0.${index + 2}`)];
        const expected = ask(client, {}, []);
        expect(list([forged, ...way].join(", "))).toBe(expected);
        const elements = way.map((address) => `for="${address.includes(":") ? `[${address}]` : address}"`);
        expect(forwarded([forged, ...elements].join(", "))).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Said in another way than the code does. */
function isTrusted(text: string): boolean {
  const words = parseIp(text) ?? [];
  if (words.length === 2) return (words[0] as number) >> 8 === 10;
  return (words[0] as number) >> 8 === 0xfd || words.join() === "0,0,0,0,0,0,0,1";
}
