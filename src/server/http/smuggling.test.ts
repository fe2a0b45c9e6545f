import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { post, rawRig, until } from "./fixtures/raw-client.ts";

const EVIL = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n";
const head = (lines: string) => `POST /mcp HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;

describe("a request hidden in another", () => {
  test.each([
    ["CL.TE", `${head("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE.CL", `${head("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n")}5c\r\n${EVIL}\r\n0\r\n\r\n`],
    ["CL.CL", head("Content-Length: 0\r\nContent-Length: 30\r\n") + EVIL],
    ["CL.CL, equal", head("Content-Length: 0\r\nContent-Length: 0\r\n") + EVIL],
    ["a list of lengths", head("Content-Length: 0, 0\r\n") + EVIL],
    ["a signed length", head("Content-Length: +0\r\n") + EVIL],
    ["TE.TE", `${head("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n")}0\r\n\r\n${EVIL}`],
    ["TE with a blank before the colon", `${head("Transfer-Encoding : chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE with a no-break space", `${head("Transfer-Encoding: \xa0chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE with a vertical tab", `${head("Transfer-Encoding: \x0bchunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE in a folded line", `${head("X: a\r\n Transfer-Encoding: chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE after a bare LF", `${head("X: a\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["TE after a bare CR", `${head("X: a\rTransfer-Encoding: chunked\r\n")}0\r\n\r\n${EVIL}`],
    ["a length in a name with a NUL", head("Content-Length\0: 40\r\n") + EVIL],
    ["a head that ends with bare LFs", `POST /mcp HTTP/1.1\nHost: a\n\n${EVIL}`],
    ["a blank line first", `\r\n${EVIL}`],
    ["a chunk that is longer than it says", `${head("Transfer-Encoding: chunked\r\n")}1\r\nab\r\n0\r\n\r\n${EVIL}`],
    ["a chunk size with a sign", `${head("Transfer-Encoding: chunked\r\n")}-0\r\n\r\n${EVIL}`],
    ["a chunk size with a prefix", `${head("Transfer-Encoding: chunked\r\n")}0x0\r\n\r\n${EVIL}`],
    ["a chunk size that overflows", `${head("Transfer-Encoding: chunked\r\n")}10000000000000000\r\n\r\n${EVIL}`],
    ["a chunk line that ends with a bare LF", `${head("Transfer-Encoding: chunked\r\n")}0;\n\r\n${EVIL}`],
    ["a chunk that ends with a bare LF", `${head("Transfer-Encoding: chunked\r\n")}1\r\na\n0\r\n\r\n${EVIL}`],
    ["a trailer that is no header", `${head("Transfer-Encoding: chunked\r\n")}0\r\nGET /evil HTTP/1.1\r\n\r\n${EVIL}`],
    ["two hosts", `GET /evil HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${EVIL}`],
    ["an absolute path", `GET http://b/evil HTTP/1.1\r\nHost: a\r\n\r\n${EVIL}`],
    ["HTTP/0.9", `GET /evil\r\n\r\n${EVIL}`],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00"],
  ])("is not found by means of %s", async (_what, bytes) => {
    for (const before of ["", post("a")]) {
      await using rig = await rawRig();
      const client = rig.client();
      client.write(before + bytes);
      await client.all();
      expect(client.statuses).toEqual(before === "" ? [400] : [200, 400]);
      expect(client.text).toMatch(/Connection: close\r\n[\s\S]*\{"error":"[\w ,.-]+"\}$/);
      expect(rig.seen.map(({ url }) => url)).not.toContain("/evil");
      client.socket.end();
      await until(() => rig.listener.connections === 0);
    }
  });

  test("is not found by a length that changes under a head that is known", async () => {
    await using rig = await rawRig();
    const client = await rig.exchange(post("a"), post(EVIL), post("b"), post("").replace(": 0", ": 0, 5"));
    expect(rig.seen.map(({ body }) => body)).toEqual(["a", EVIL, "b"]);
    expect(client.statuses).toEqual([200, 200, 200, 400]);
  });

  test("is not found by chance: whatever is done to the bytes, each answer is ours and the connection ends", async () => {
    await using rig = await rawRig();
    const chunked = `${head("Transfer-Encoding: chunked\r\n")}3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n`;
    const valid = post("hello", "X: y\r\n") + chunked + post("hello", "X: y\r\n") + post("hel", "X: y\r\n");
    const piece = fc.constantFrom(
      "",
      "\r",
      "\n",
      "\r\n",
      "\r\n\r\n",
      "\0",
      " ",
      ":",
      "0",
      "9",
      "\xa0",
      "chunked",
      "Content-Length: 3\r\n",
    );
    const edit = fc.record({ at: fc.nat(valid.length - 1), cut: fc.nat(3), piece });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const bytes = edits.reduce(
          (text, { at, cut, piece }) => text.slice(0, at) + piece + text.slice(at + cut),
          valid,
        );
        const client = await rig.exchange(bytes);
        const last = client.statuses.length - 1;
        for (const [index, status] of client.statuses.entries())
          expect(index === last ? [200, 400, 415, 417, 431] : [200]).toContain(status);
        expect(rig.errors).toEqual([]);
      }),
      { numRuns: 200 },
    );
    await until(() => rig.listener.connections === 0);
  });

  test.each([
    [431, "a head without end", `GET /x HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(17 * 1024)}`],
    [431, "a head with too many lines", `GET /x HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(101)}\r\n`],
    [415, "a compressed body", post("x", "Content-Encoding: gzip\r\n")],
    [417, "another expectation", post("x", "Expect: wonders\r\n")],
  ])("gets %i for %s", async (status, _what, bytes) => {
    const refused: number[] = [];
    await using rig = await rawRig({ onRefused: (told) => refused.push(told) });
    const client = rig.client();
    client.write(bytes);
    await client.all();
    expect(client.statuses).toEqual([status]);
    expect(refused).toEqual([status]);
    expect(rig.seen).toEqual([]);
  });
});
