import { describe, expect, test } from "vitest";
import { KnownHead } from "./known-head.ts";
import { parseRequestHead } from "./request-head.ts";

const BEFORE = "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: ";
const AFTER = "\r\nX: y\r\n\r\n";
const known = (text: string) => new KnownHead(text, parseRequestHead(text));

describe("KnownHead", () => {
  test("knows the same head again with another length", () => {
    const head = known(`${BEFORE}12${AFTER}`);
    expect(head.length).toBe(12);
    const next = `${BEFORE}7${AFTER}`;
    expect(head.match(`abc${next}body`, 3)).toBe(3 + next.length);
    expect(head.length).toBe(7);
    expect(head.match(`${BEFORE}${"9".repeat(15)}${AFTER}`, 0)).toBeGreaterThan(0);
  });

  test.each(["", "-1", "+1", "1 ", "1,2", "a", "1\r\nContent-Length: 2", "9".repeat(16)])(
    "does not take a head with the length %j for it",
    (length) => {
      expect(known(`${BEFORE}12${AFTER}`).match(`${BEFORE}${length}${AFTER}`, 0)).toBe(-1);
    },
  );

  test.each([
    `${BEFORE}12\r\nX: z\r\n\r\n`,
    `${BEFORE}12\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `${BEFORE}12\r\nX: y\r\n`,
    BEFORE,
    `${BEFORE.replace("mcp", "MCP")}12${AFTER}`,
    "",
  ])("does not take %j for it", (text) => {
    expect(known(`${BEFORE}12${AFTER}`).match(text, 0)).toBe(-1);
  });

  test("knows a head without a length as a whole", () => {
    const text = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    expect(known(text).match(`${text}rest`, 0)).toBe(text.length);
    expect(known(text).match(text.slice(0, -1), 0)).toBe(-1);
    const chunked = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(known(chunked).match(chunked, 0)).toBe(chunked.length);
    expect(known(chunked).length).toBe(0);
  });
});
