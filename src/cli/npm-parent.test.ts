import { describe, expect, test } from "vitest";
import { isChildOf, processOf } from "./npm-parent.ts";

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

describe("the shell through which npm starts the gateway", () => {
  test.each(["ENOENT", "ESRCH"])("is gone when the system says so: %s", (code) => {
    expect(isChildOf(7, processOf(1, failing(code)))).toBe(false);
  });

  test.each(["EMFILE", "ENFILE", "EACCES", "EIO", "EAGAIN"])("is not gone because nobody can look: %s", (code) => {
    expect(isChildOf(7, processOf(1, failing(code)))).toBe(true);
  });

  test("is not npm's any more once that has ended, and another process may have its number", () => {
    expect(
      isChildOf(
        7,
        processOf(3, () => "3 (a) b) (sh) S 7 3 3 0 "),
      ),
    ).toBe(true);
    expect(
      isChildOf(
        7,
        processOf(3, () => "3 (sh) S 1 3 3 0 "),
      ),
    ).toBe(false);
    expect(
      isChildOf(
        7,
        processOf(3, () => "3 (other) S 9 3 3 0 "),
      ),
    ).toBe(false);
  });
});
