import { describe, expect, test } from "vitest";
import { sessionName } from "./session-name.ts";

const ID = "0b5e6c0a-5d5e-4f0e-9c56-2f5f0c7a9b11";

describe("the name of a session", () => {
  test("has nothing of its id, and is another for each", () => {
    expect(sessionName(ID)).toMatch(/^s-[A-Za-z0-9_-]{22}$/);
    expect(sessionName(ID)).not.toBe(sessionName(`${ID}0`));
  });

  test("is the same for its id and for itself", () => {
    expect(sessionName(sessionName(ID))).toBe(sessionName(ID));
  });
});
