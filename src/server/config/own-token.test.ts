import { expect, test } from "vitest";
import { ownToken } from "./own-token.ts";

test.each(["ist_abc", "ist_abc\r", "ist_abc\r\n", " ist_abc\n"])("takes the token out of %j", (written) => {
  expect(ownToken({ ISTHMUS_TOKEN: written })).toBe("ist_abc");
});

test.each([undefined, "", " ", "\r\n"])("finds no token in %j", (written) => {
  expect(ownToken(written === undefined ? {} : { ISTHMUS_TOKEN: written })).toBeUndefined();
});
