import { expect, test } from "vitest";
import { urlToType } from "./called-as.ts";

const AT = { host: "127.0.0.1", port: 7411 };

test.each([
  ["one that verbs find", { isFound: true }, AT, AT, undefined],
  ["one of which nothing is known", undefined, AT, AT, undefined],
  ["one without a socket", { isFound: false }, AT, undefined, undefined],
  ["one that was told elsewhere where to listen", { isFound: false }, AT, AT, "http://127.0.0.1:7411"],
  ["one on a free port", { isFound: true }, { ...AT, port: 0 }, AT, "http://127.0.0.1:7411"],
  [
    "one whose config names another since it listens",
    { isFound: true },
    { ...AT, port: 1 },
    AT,
    "http://127.0.0.1:7411",
  ],
  ["one on every address", { isFound: false }, AT, { host: "0.0.0.0", port: 7411 }, "http://127.0.0.1:7411"],
  ["one on IPv6", { isFound: false }, AT, { host: "::1", port: 7411 }, "http://[::1]:7411"],
] as const)("a command for %s names it where it must", (_what, calledAs, configured, listen, url) => {
  expect(urlToType(calledAs, { listen: configured }, listen)).toBe(url);
});

test("a gateway with a certificate is named as one", () => {
  expect(urlToType({ isFound: false }, { listen: AT, tls: {} }, AT)).toBe("https://127.0.0.1:7411");
});
