import { describe, expect, test } from "vitest";
import { RequestBody } from "./request-body.ts";
import { RequestFault } from "./request-fault.ts";

/** Feeds the pieces as a connection does: what was not taken comes again with the next one. */
function read(framing: number | "chunked", pieces: readonly string[]) {
  const body = new RequestBody(framing, false);
  let rest = "";
  for (const piece of pieces) {
    rest += piece;
    rest = rest.slice(body.take(rest, 0));
  }
  return { text: body.text, isDone: body.isDone, rest };
}

describe("RequestBody", () => {
  test.each([
    ["a length", 5, "hello", "hello"],
    ["chunks", "chunked", '3\r\nhel\r\n02;x="y"\r\nlo\r\n0\r\n\r\n', "hello"],
    ["trailers", "chunked", "A\r\n0123456789\r\n0;last\r\nX: y\r\nContent-Length: 99\r\n\r\n", "0123456789"],
    ["line ends inside chunks", "chunked", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"],
    ["nothing in it", "chunked", "0\r\n\r\n", ""],
  ] as const)("reads a body with %s however it is cut, and not a byte more", (_what, framing, bytes, text) => {
    const after = "GET /";
    expect(read(framing, [bytes + after])).toEqual({ text, isDone: true, rest: after });
    expect(read(framing, (bytes + after).split(""))).toEqual({ text, isDone: true, rest: after });
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(read(framing, [bytes.slice(0, cut)]).isDone).toBe(false);
      expect(read(framing, [bytes.slice(0, cut), bytes.slice(cut)])).toEqual({ text, isDone: true, rest: "" });
    }
  });

  test.each([
    "x\r\n",
    "-1\r\n",
    "+1\r\n",
    "0x3\r\n",
    " 3\r\n",
    "3 \r\n",
    "\r\n",
    "3\nabc\r\n",
    "3;\0\r\n",
    "3;a\rb\r\n",
    "3;a\nb\r\n",
    "fffffffffffff\r\n",
    "3\r\nabcd\r\n",
    "3\r\nabc\n0\r\n\r\n",
    "3\r\nabc0\r\n\r\n",
    "0\r\nX\r\n\r\n",
    "0\r\n folded: x\r\n\r\n",
    "0\r\nX: a\nb\r\n\r\n",
    "0\r\n\nGET / HTTP/1.1\r\n\r\n",
  ])("refuses the chunks %j", (bytes) => {
    expect(() => read("chunked", [bytes])).toThrow(RequestFault);
    expect(() => read("chunked", bytes.split(""))).toThrow(RequestFault);
  });

  test("bounds size lines, extensions as a whole, and trailers", () => {
    expect(() => read("chunked", [`3;${"a".repeat(1100)}`])).toThrow(/chunk size/);
    expect(() => read("chunked", Array(20).fill(`1;${"a".repeat(1000)}\r\nx\r\n`))).toThrow(/extensions/);
    expect(() => read("chunked", ["0\r\n", ...Array(2000).fill("X: abc\r\n")])).toThrow(/trailers/);
  });

  test("takes a long body byte by byte", () => {
    const text = "0123456789".repeat(1000);
    expect(read(text.length, text.split("")).text).toBe(text);
  });

  test("counts what it drops", () => {
    const body = new RequestBody("chunked", true);
    body.take("3\r\nabc\r\n2\r\nde\r\n", 0);
    expect(body).toMatchObject({ text: "", bytes: 5, isDone: false });
  });
});
