import { afterEach, describe, expect, test, vi } from "vitest";
import { authorizationHeader } from "./authorization.ts";

describe("authorizationHeader", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("shows the token, without the line end of the file that it stood in", () => {
    vi.stubEnv("ISTHMUS_TOKEN", "ist_abc\r\n");
    expect(authorizationHeader()).toEqual({ Authorization: "Bearer ist_abc" });
  });

  test.each(["\u201cist_abc\u201d", "ist_\r\nabc", "ist_abc\u00e9", "ist abc"])(
    "ends where %j is to be the token, and does not show it",
    (written) => {
      vi.stubEnv("ISTHMUS_TOKEN", written);
      expect(authorizationHeader).toThrow(
        expect.objectContaining({ exit: "refused", lines: [expect.stringMatching(/^ISTHMUS_TOKEN holds(?!.*abc)/)] }),
      );
    },
  );

  test.each([
    ["Bearer ist_abc", 'holds "Bearer" before the token'],
    ["ist abc", "a space, a quote"],
  ])("says what is wrong with %j", (written, why) => {
    vi.stubEnv("ISTHMUS_TOKEN", written);
    expect(authorizationHeader).toThrow(why);
  });
});
