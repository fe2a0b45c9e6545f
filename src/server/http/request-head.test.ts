import { describe, expect, test } from "vitest";
import { RequestFault } from "./request-fault.ts";
import { parseRequestHead } from "./request-head.ts";

const head = (lines: string, first = "POST /mcp HTTP/1.1") => `${first}\r\n${lines}\r\n`;
const HOST = "Host: a\r\n";

function statusOf(text: string): number {
  try {
    parseRequestHead(text);
  } catch (error) {
    if (error instanceof RequestFault) return error.status;
    throw error;
  }
  return 200;
}

describe("parseRequestHead", () => {
  test("reads method, path, headers and framing", () => {
    const text = head(`${HOST}Accept: a\r\nX-y:\t z \r\nACCEPT:b\r\nContent-Length: 012\r\n`, "POST /mcp?q=1 HTTP/1.1");
    const parsed = parseRequestHead(text);
    expect(parsed).toMatchObject({ method: "POST", url: "/mcp?q=1", framing: 12, isOld: false, keepsAlive: true });
    expect({ ...parsed.headers }).toEqual({ host: "a", accept: "a, b", "x-y": "z" });
    expect(Object.isFrozen(parsed.headers)).toBe(true);
    expect(text.slice(parsed.lengthStart, parsed.lengthEnd)).toBe("012");
  });

  test("takes a header with the name of an object's own for what it is", () => {
    const { headers } = parseRequestHead(head(`${HOST}__proto__: x\r\nconstructor: y\r\n`));
    expect(Object.entries(headers)).toContainEqual(["__proto__", "x"]);
    expect(headers.constructor).toBe("y");
    expect(headers.toString).toBeUndefined();
  });

  test.each([
    "POST  /mcp HTTP/1.1",
    "POST /mcp  HTTP/1.1",
    "POST\t/mcp HTTP/1.1",
    " POST /mcp HTTP/1.1",
    "POST /mcp HTTP/1.1 ",
    "POST /a b HTTP/1.1",
    "POST /a#b HTTP/1.1",
    "POST /\u00e9 HTTP/1.1",
    "POST /\0 HTTP/1.1",
    "POST mcp HTTP/1.1",
    "POST http://a/mcp HTTP/1.1",
    "CONNECT a:443 HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "PO(ST /mcp HTTP/1.1",
    "POST /mcp HTTP/1.2",
    "POST /mcp HTTP/2.0",
    "POST /mcp http/1.1",
    "POST /mcp HTTP/01.1",
    "POST /mcp",
    "",
  ])("refuses the request line %j", (line) => {
    expect(statusOf(head(HOST, line))).toBe(400);
  });

  test.each([
    " folded: x\r\n",
    "X: a\r\n b\r\n",
    "X: a\r\n\tb\r\n",
    "X : a\r\n",
    ": a\r\n",
    "X\r\n",
    "X: a\0b\r\n",
    "X: a\rb\r\n",
    "X: a\nY: b\r\n",
    "X: a\u007f\r\n",
    "X(: a\r\n",
    "\u00e9: a\r\n",
  ])("refuses the header lines %j", (lines) => {
    expect(statusOf(head(HOST + lines))).toBe(400);
  });

  test.each([
    "host",
    "content-length",
    "transfer-encoding",
    "content-type",
    "origin",
    "authorization",
    "mcp-session-id",
    "mcp-protocol-version",
    "last-event-id",
  ])("refuses %s twice, even where both agree", (name) => {
    const value = name === "content-length" ? "1" : "chunked";
    expect(statusOf(head(`${HOST}${name}: ${value}\r\n${name.toUpperCase()}: ${value}\r\n`))).toBe(400);
  });

  test("wants a Host from 1.1 and not from 1.0", () => {
    expect(statusOf(head(""))).toBe(400);
    expect(statusOf(head("", "GET /x HTTP/1.0"))).toBe(200);
  });

  test.each(["", "-1", "+1", "1,1", "1, 1", "0x1", "1e2", "1.0", "1 1", "a", "1\u00a0", "9".repeat(16)])(
    "refuses the length %j",
    (length) => {
      expect(statusOf(head(`${HOST}Content-Length: ${length}\r\n`))).toBe(400);
    },
  );

  test.each([
    "gzip, chunked",
    "chunked, chunked",
    "chunked,",
    "identity",
    "xchunked",
    "chunked;q=1",
    '"chunked"',
    "\u00a0chunked",
    "chunked\u00a0",
    "",
  ])("refuses the transfer encoding %j", (encoding) => {
    expect(statusOf(head(`${HOST}Transfer-Encoding: ${encoding}\r\n`))).toBe(400);
  });

  test("refuses a transfer encoding beside a length, in either order, and from 1.0", () => {
    const [length, encoding] = ["Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n"];
    expect(statusOf(head(HOST + length + encoding))).toBe(400);
    expect(statusOf(head(HOST + encoding + length))).toBe(400);
    expect(statusOf(head(HOST + encoding, "POST /mcp HTTP/1.0"))).toBe(400);
    expect(parseRequestHead(head(`${HOST}transfer-encoding:\t CHUNKED \r\n`)).framing).toBe("chunked");
  });

  test("refuses compressed bodies and expectations that it cannot meet", () => {
    expect(statusOf(head(`${HOST}Content-Encoding: gzip\r\n`))).toBe(415);
    expect(statusOf(head(`${HOST}Content-Encoding: identity\r\n`))).toBe(200);
    expect(statusOf(head(`${HOST}Expect: magic\r\n`))).toBe(417);
    expect(parseRequestHead(head(`${HOST}Expect: 100-Continue\r\n`)).expectsContinue).toBe(true);
    expect(parseRequestHead(head("Expect: 100-continue\r\n", "POST / HTTP/1.0")).expectsContinue).toBe(false);
  });

  test("takes up to 100 headers", () => {
    expect(statusOf(head(HOST + "X: y\r\n".repeat(99)))).toBe(200);
    expect(statusOf(head(HOST + "X: y\r\n".repeat(100)))).toBe(431);
  });

  test.each([
    ["HTTP/1.1", "", true],
    ["HTTP/1.1", "close", false],
    ["HTTP/1.1", "Upgrade , Close", false],
    ["HTTP/1.1", "closed", true],
    ["HTTP/1.0", "", false],
    ["HTTP/1.0", "Keep-Alive", true],
    ["HTTP/1.0", "keep-alive, close", false],
    ["HTTP/1.1", `a${" ".repeat(300_000)}b, close`, false],
  ])("%s with Connection: %j stays open: %s", (version, connection, stays) => {
    const lines = connection === "" ? HOST : `${HOST}Connection: ${connection}\r\n`;
    expect(parseRequestHead(head(lines, `GET /x ${version}`)).keepsAlive).toBe(stays);
  });
});
