import { describe, expect, test } from "vitest";
import { routeCookie } from "./route-cookie.ts";

describe("the route cookie", () => {
  test("names the process by an opaque key, and nothing but that", () => {
    const line = routeCookie("5f0c", "/mcp");
    expect(line).toMatch(/^Set-Cookie: gw_route=[\w-]{22}; Path=\/mcp; HttpOnly; Secure; SameSite=Lax\r\n$/);
    expect(line).not.toContain("5f0c");
  });

  test("is the same for one process and another for each", () => {
    expect(routeCookie("a", "/mcp")).toBe(routeCookie("a", "/mcp"));
    expect(routeCookie("a", "/mcp")).not.toBe(routeCookie("b", "/mcp"));
  });

  test("takes no path that would end the line", () => {
    expect(() => routeCookie("a", "/mcp\r\nX: y")).toThrow();
  });
});
