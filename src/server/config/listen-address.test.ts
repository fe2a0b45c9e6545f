import { describe, expect, test } from "vitest";
import { formatListen, isLoopback, parseListen, reachableAt } from "./listen-address.ts";

describe("parseListen", () => {
  test.each([
    ["127.0.0.1:7411", { host: "127.0.0.1", port: 7411 }],
    ["localhost:0", { host: "localhost", port: 0 }],
    ["[::1]:80", { host: "::1", port: 80 }],
  ])("reads %s and writes it back", (text, address) => {
    expect(parseListen(text)).toEqual(address);
    expect(formatListen(address)).toBe(text);
  });

  test.each(["7411", ":7411", "127.0.0.1", "127.0.0.1:", "::1:80", "[::1]", "a:70000", "http://a:1", "[x]:1", "a b:1"])(
    "refuses %s",
    (text) => {
      expect(parseListen(text)).toBeUndefined();
    },
  );
});

describe("isLoopback", () => {
  test.each(["127.0.0.1", "127.1.2.3", "localhost", "::1"])("holds for %s", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  test.each(["0.0.0.0", "::", "192.168.1.2", "example.org", "127.0.0.1.example.org", "localhost.example.org"])(
    "does not hold for %s",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
  ["0:0:0:0:0:0:0:0", "::1"],
  ["::1", "::1"],
  ["192.0.2.1", "192.0.2.1"],
  ["localhost", "localhost"],
])("what listens on %s is reached at %s from this machine", (host, reached) => {
  expect(reachableAt({ host, port: 1 })).toEqual({ host: reached, port: 1 });
});
