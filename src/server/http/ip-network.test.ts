import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type IpAddress, parseIp } from "./ip-address.ts";
import { isInNetwork, meantNetwork, parseNetwork } from "./ip-network.ts";

function isIn(address: string, network: string): boolean {
  const parsed = parseNetwork(network);
  if (parsed === undefined) throw new Error(`${network} is no network`);
  return isInNetwork(parseIp(address) as IpAddress, parsed);
}

describe("a network", () => {
  test.each([
    ["10.0.0.0/8", "10.255.0.1", "11.0.0.1"],
    ["10.128.0.0/9", "10.128.0.1", "10.127.255.255"],
    ["192.168.1.0/24", "192.168.1.255", "192.168.2.0"],
    ["192.168.1.7", "192.168.1.7", "192.168.1.8"],
    ["192.168.1.7/32", "::ffff:192.168.1.7", "::192.168.1.7"],
    ["::ffff:10.0.0.0/104", "10.1.1.1", "11.1.1.1"],
    ["::1", "::1", "127.0.0.1"],
    ["2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"],
    ["fd00::/8", "fdff::1", "fe00::1"],
    ["0.0.0.0/0", "1.2.3.4", "::1"],
    ["::/0", "2001:db8::1", "1.2.3.4"],
  ])("%s holds %s and not %s", (network, inside, outside) => {
    expect([isIn(inside, network), isIn(outside, network)]).toEqual([true, false]);
  });

  test.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["2001:db8::1/32", "2001:db8::/32"],
    ["::ffff:10.1.0.0/104", "10.0.0.0/8"],
    ["LocalHost", "127.0.0.1"],
    ["10.0.0.0/33", undefined],
    ["10.0.0.0/08", undefined],
    ["10.0.0.0/", undefined],
    ["10.0.0.0/8/8", undefined],
    ["::/129", undefined],
    ["::ffff:10.0.0.0/8", undefined],
    ["proxy.example", undefined],
    ["10.0.0.*", undefined],
    ["", undefined],
  ])("is not %j; probably meant was %j", (text, meant) => {
    expect(parseNetwork(text)).toBeUndefined();
    expect(meantNetwork(text)).toBe(meant);
  });

  test("holds what Node's own list of networks holds", () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(address, address, fc.integer({ min: 0, max: 128 }), (host, other, bits) => {
        const family = isIPv4(host) ? "ipv4" : "ipv6";
        const length = family === "ipv4" ? bits % 33 : bits;
        const network = meantNetwork(`${host}/${length}`);
        if (network === undefined || isIPv4(host) !== isIPv4(other)) return;
        const list = new BlockList();
        list.addSubnet(host, length, family);
        for (const one of [host, other]) expect(isIn(one, network)).toBe(list.check(one, family));
      }),
      { numRuns: 500 },
    );
  });
});
