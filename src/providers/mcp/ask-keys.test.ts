import { describe, expect, test } from "vitest";
import { payload } from "../../contract/index.ts";
import { AskKeys, wishedKey } from "./ask-keys.ts";

describe("AskKeys", () => {
  test("gives the key that was wished for, once", () => {
    const keys = new AskKeys();
    expect(["user_name", "user_name", undefined, "user_name"].map((wish) => keys.take(wish))).toEqual([
      "user_name",
      "a1",
      "a2",
      "a3",
    ]);
  });

  test("does not give one of its own that a server has wished for before", () => {
    const keys = new AskKeys();
    expect(["a1", undefined, "a2", undefined].map((wish) => keys.take(wish))).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test.each(["", "with space", "ü", "x".repeat(65)])("does not take %j for a key", (wish) => {
    expect(new AskKeys().take(wish)).toBe("a1");
  });
});

describe("wishedKey", () => {
  test("reads the name of a question", () => {
    expect(wishedKey(payload('{"_meta":{"dev.isthmus/key":"user_name"}}'))).toBe("user_name");
    expect(wishedKey(payload('{"_meta":{"dev.isthmus/key":7}}'))).toBeUndefined();
    expect(wishedKey(payload(""))).toBeUndefined();
  });
});
