import { describe, expect, test } from "vitest";
import { LongLine, linesOf } from "./lines.ts";

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(input: AsyncIterable<Uint8Array>, maxLength?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(input, maxLength)) lines.push(line);
  return lines;
}

describe("linesOf", () => {
  test.each([1, 2, 3, 7, 1_000])(
    "ends lines at line feeds and at nothing else, in pieces of %i bytes",
    async (size) => {
      const text = '{"a":"x\u2028y\u2029z\u0085"}\r\n\nlast ü';
      expect(await all(pieces(text, size))).toEqual(['{"a":"x\u2028y\u2029z\u0085"}', "", "last ü"]);
    },
  );

  test("has no line after the last end", async () => {
    expect(await all(pieces("one\n", 2))).toEqual(["one"]);
    expect(await all(pieces("", 1))).toEqual([]);
  });

  test("copies a long line once, however many pieces it comes in", async () => {
    // Joined anew with each piece this is some 60 GB to copy.
    const text = "x".repeat(8 * 1024 * 1024);
    const [line, ...more] = await all(pieces(`${text}\nnext`, 512));
    expect([line === text, more]).toEqual([true, ["next"]]);
  });

  test.each([1, 3, 1_000])("reads no further than a line may be long, in pieces of %i bytes", async (size) => {
    expect(await all(pieces("12345\r\n123456", size), 6)).toEqual(["12345", "123456"]);
    let read = 0;
    async function* endless() {
      for (; read < 1_000; read++) yield Buffer.alloc(size, "x");
    }
    await expect(all(endless(), 6)).rejects.toThrow(LongLine);
    expect(read).toBeLessThan(8);
  });
});
