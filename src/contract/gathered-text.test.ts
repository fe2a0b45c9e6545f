import { describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../tests/kit/held-memory.ts";
import { GatheredText } from "./gathered-text.ts";

const MIB = 1024 * 1024;

describe("GatheredText", () => {
  test("gives what came, in its order, and begins anew", () => {
    const gathered = new GatheredText();
    const text = "0123456789".repeat(100);
    for (const piece of text) gathered.add(piece);
    expect(gathered.length).toBe(text.length);
    expect(gathered.text).toBe(text);
    expect(gathered.take()).toBe(text);
    expect(gathered.length).toBe(0);
    expect(gathered.add("x").take()).toBe("x");
  });

  test.each([
    ["a byte each", 1, 1],
    ["a few bytes each", 5, 5],
    ["short, and cut from long reads", 20, 64 * 1024],
    ["long", 64 * 1024, 64 * 1024],
  ])("keeps little more than the bytes that came: pieces that are %s", async (_, bytes, readBytes) => {
    const gathered = new GatheredText();
    const held = await bytesHeldAfter(() => {
      while (gathered.length < MIB) {
        const read = Buffer.alloc(readBytes, "x").toString("latin1");
        gathered.add(read.slice(0, bytes));
      }
    });
    expect(gathered.length).toBeGreaterThanOrEqual(MIB);
    // So much is what a few reads take that have not been copied yet.
    expect(held).toBeLessThan(2.5 * MIB + 64 * 64 * 1024);
  });
});
