import { expect, test } from "vitest";
import { shortPath } from "./short-path.ts";

test("shortPath writes the home folder as ~, and leaves its neighbours alone", () => {
  expect(shortPath("node /home/ada/a.mjs /home/ada/b", "/home/ada")).toBe("node ~/a.mjs ~/b");
  expect(shortPath("/home/adam/a", "/home/ada")).toBe("/home/adam/a");
  expect(shortPath("/a", "/")).toBe("/a");
});
