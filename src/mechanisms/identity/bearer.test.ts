import { describe, expect, test } from "vitest";
import { bearerOf } from "./bearer.ts";

describe("bearerOf", () => {
  test.each([
    "/mcp?token=x",
    "/mcp?a=1&access_token=x",
    "/mcp?a=1;My-Token-2=x",
    "/mcp?a?token?b=x",
    "/mcp?TOKEN=",
    "/mcp?isth_x",
    "/mcp?a=isth_x",
    "/mcp?a=eyJhbGciOi",
  ])("refuses a token in %s", (url) => {
    expect(() => bearerOf({ url, headers: {} })).toThrow();
  });

  test.each(["/mcp", "/mcp?", "/mcp?token", "/mcp?a=token", "/token=1?a=b", "/mcp?a=1&b=eye"])(
    "finds none in %s",
    (url) => {
      expect(bearerOf({ url, headers: {} })).toBeUndefined();
    },
  );

  // Each took minutes when it was found by going back and forth.
  test.each(["?token", "?", "&token", "?=token", "??token&"])("reads a query of many %s in one go", (part) => {
    expect(() => bearerOf({ url: `/mcp?${part.repeat(50_000)}`, headers: { authorization: "Basic x" } })).toThrow();
  });
});
