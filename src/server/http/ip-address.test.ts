import { isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIp, parseIp } from "./ip-address.ts";

/** The one form of what is written. */
const formOf = (text: string): string | undefined => {
  const address = parseIp(text);
  return address && formatIp(address);
};

describe("an IP address", () => {
  test.each([
    ["10.0.0.1", "10.0.0.1"],
    ["255.255.255.255", "255.255.255.255"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::FFFF:a00:1", "10.0.0.1"],
    ["0:0:0:0:0:ffff:10.0.0.1", "10.0.0.1"],
    ["::1", "::1"],
    ["::", "::"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
    ["1::", "1::"],
  ])("%s has the form %s", (text, form) => {
    expect(formOf(text)).toBe(form);
  });

  test.each([
    "",
    "10.0.0",
    "010.0.0.1",
    "10.0.0.256",
    "1.2.3.4.5",
    ":::",
    "1::2::3",
    "g::1",
    "fe80::1%eth0",
    "a",
    " ::1",
  ])("is not %j", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test("is read again from its form, which is the form of a URL's host too", () => {
    const ipv6 = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
      minLength: 8,
      maxLength: 8,
    });
    fc.assert(
      fc.property(ipv6, (words) => {
        const text = words.map((word) => word.toString(16)).join(":");
        const form = formOf(text) as string;
        expect(formOf(form)).toBe(form);
        if (isIPv6(form)) expect(`[${form}]`).toBe(new URL(`http://[${text}]`).hostname);
      }),
    );
  });
});
