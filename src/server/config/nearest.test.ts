import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const keys = ["command", "args", "url", "headers", "maxBody", "allowedHosts"];

test.each([
  ["comand", "command"],
  ["cmmand", "command"],
  ["arg", "args"],
  ["max_body", "maxBody"],
  ["allowedhost", "allowedHosts"],
  ["uri", "url"],
])("%s is taken for %s", (word, meant) => {
  expect(nearest(word, keys)).toBe(meant);
});

test.each(["colour", "x", "authorization"])("%s resembles nothing", (word) => {
  expect(nearest(word, [...keys, "_", "u"])).toBeUndefined();
});
