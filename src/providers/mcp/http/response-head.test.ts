import { describe, expect, test } from "vitest";
import { isFieldSection, parseHead } from "./response-head.ts";

const parse = (...lines: string[]) => parseHead([...lines, "", ""].join("\r\n"));

describe("parseHead", () => {
  test("finds headers whatever their case and trims their value", () => {
    const { head } = parse(
      "HTTP/1.1 200 OK",
      "content-TYPE:  Text/Event-Stream ; charset=utf-8",
      "MCP-Session-ID:\t Ab1 \t",
    );
    expect(head.status).toBe(200);
    expect(head.contentType).toBe("text/event-stream");
    expect(head.header("Mcp-Session-Id")).toBe("Ab1");
    expect(head.header("session-id")).toBeUndefined();
    expect(head.header("x-\u00e9")).toBeUndefined();
  });

  test("does not take byte A0 for a blank", () => {
    expect(() => parse("HTTP/1.1 200 OK", "Transfer-Encoding: \xa0chunked")).toThrow(/transfer encoding/);
  });

  test.each([
    ["a content type", "Content-Type"],
    ["a connection", "Connection"],
    ["a header that is asked for", "X"],
  ])("reads blanks inside %s once", (_, name) => {
    const value = `a${" \t".repeat(150_000)}b`;
    expect(parse("HTTP/1.1 200 OK", `${name}: ${value}\t `).head.header(name)).toBe(value);
  });

  test("reads blanks between lengths once", () => {
    const blanks = " \t".repeat(150_000);
    expect(parse("HTTP/1.1 200 OK", `Content-Length: 5${blanks},${blanks}5`).framing).toBe(5);
    expect(() => parse("HTTP/1.1 200 OK", `Content-Length: 5${blanks}5`)).toThrow(/not a number/);
  });

  test("joins headers of one name", () => {
    const { head } = parse("HTTP/1.1 401 No", "WWW-Authenticate: A", "X: y", "www-authenticate: B");
    expect(head.header("www-authenticate")).toBe("A, B");
    expect(head.contentType).toBe("");
  });

  test("accepts a status line without a reason", () => {
    expect(parse("HTTP/1.1 202").head.status).toBe(202);
    expect(parse("HTTP/1.1 202 ").head.status).toBe(202);
  });

  test.each([
    [["HTTP/1.1 200 OK", "Content-Length: 5"], 5],
    [["HTTP/1.1 200 OK", "Content-Length: 5", "content-length: 5"], 5],
    [["HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"], "chunked"],
    [["HTTP/1.1 200 OK"], "close"],
    [["HTTP/1.1 204 No Content", "Content-Length: 9"], 0],
    [["HTTP/1.1 304 Not Modified", "Transfer-Encoding: chunked"], 0],
  ])("frames the body of %j as %s", (lines, framing) => {
    expect(parse(...lines).framing).toBe(framing);
  });

  test.each([
    ["a length and chunks", ["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["two lengths", ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6"]],
    ["two lengths in one line", ["HTTP/1.1 200 OK", "Content-Length: 5, 6"]],
    ["a signed length", ["HTTP/1.1 200 OK", "Content-Length: +5"]],
    ["a negative length", ["HTTP/1.1 200 OK", "Content-Length: -5"]],
    ["an empty length", ["HTTP/1.1 200 OK", "Content-Length:"]],
    ["a hex length", ["HTTP/1.1 200 OK", "Content-Length: 0x5"]],
    ["a huge length", ["HTTP/1.1 200 OK", "Content-Length: 9999999999999999"]],
    ["an unknown encoding", ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"]],
    ["chunks twice", ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]],
    ["chunks in HTTP/1.0", ["HTTP/1.0 200 OK", "Transfer-Encoding: chunked"]],
    ["a compressed body", ["HTTP/1.1 200 OK", "Content-Encoding: gzip"]],
    ["a folded line", ["HTTP/1.1 200 OK", "X: a", " b"]],
    ["a blank before the colon", ["HTTP/1.1 200 OK", "X : a"]],
    ["a header without colon", ["HTTP/1.1 200 OK", "X"]],
    ["a header without name", ["HTTP/1.1 200 OK", ": x"]],
    ["a bare line feed", ["HTTP/1.1 200 OK", "X: a\nContent-Length: 3"]],
    ["a bare carriage return", ["HTTP/1.1 200 OK", "X: a\rContent-Length: 3"]],
    ["a NUL", ["HTTP/1.1 200 OK", "X: a\0"]],
    ["HTTP/2", ["HTTP/2 200"]],
    ["HTTP/1.2", ["HTTP/1.2 200 OK"]],
    ["a short status", ["HTTP/1.1 20 OK"]],
    ["a long status", ["HTTP/1.1 2000 OK"]],
    ["no status line", ["Content-Length: 5"]],
  ])("refuses %s", (_what, lines) => {
    expect(() => parse(...lines)).toThrow();
  });

  test.each([
    ["HTTP/1.1 200 OK", true],
    ["HTTP/1.1 200 OK\r\nConnection: keep-alive", true],
    ["HTTP/1.1 200 OK\r\nConnection: Close", false],
    ["HTTP/1.1 200 OK\r\nConnection: x, close", false],
    ["HTTP/1.1 200 OK\r\nConnection: closer", true],
    ["HTTP/1.0 200 OK\r\nConnection: keep-alive", false],
  ])("says whether the socket lives after %j: %s", (head, keepAlive) => {
    expect(parse(head).keepAlive).toBe(keepAlive);
  });

  test("reads how long the server keeps the socket", () => {
    expect(parse("HTTP/1.1 200 OK", "Keep-Alive: timeout=5").keepAliveMs).toBe(5000);
    expect(parse("HTTP/1.1 200 OK", "Keep-Alive: max=9, timeout=72").keepAliveMs).toBe(72000);
    expect(parse("HTTP/1.1 200 OK", "Keep-Alive: x").keepAliveMs).toBeUndefined();
  });
});

describe("isFieldSection", () => {
  test("accepts field lines and nothing else", () => {
    expect(isFieldSection("A: b\r\nC: d\r\n\r\n")).toBe(true);
    expect(isFieldSection("A: b\r\n c\r\n\r\n")).toBe(false);
    expect(isFieldSection("A b\r\n\r\n")).toBe(false);
  });
});
