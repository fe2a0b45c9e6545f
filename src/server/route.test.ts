import { describe, expect, test } from "vitest";
import { routeOf } from "./route.ts";

describe("routeOf", () => {
  test.each([
    ["/mcp", ""],
    ["/mcp?x=1", ""],
    ["/files/mcp", "files"],
    ["/docs.search/mcp?x", "docs.search"],
    ["/a%20b/mcp", "a b"],
  ])("takes %s for the catalog %j", (url, catalog) => {
    expect(routeOf(url)).toEqual({ to: "mcp", catalog });
  });

  test.each(["sse", "messages"])("knows /%s, of everything and of one catalog", (to) => {
    expect(routeOf(`/${to}?sessionId=1`)).toEqual({ to, catalog: "" });
    expect(routeOf(`/files/${to}?sessionId=1`)).toEqual({ to, catalog: "files" });
  });

  test.each(["healthz", "readyz", "metrics"])("knows /%s", (word) => {
    expect(routeOf(`/${word}`)).toEqual({ to: word });
    expect(routeOf(`/${word}?x=1`)).toEqual({ to: word });
  });

  test("knows the last calls, and one of them by its id", () => {
    expect(routeOf("/api/calls")).toEqual({ to: "calls" });
    expect(routeOf("/api/calls?x=1")).toEqual({ to: "calls" });
    expect(routeOf("/api/calls/c1?x=1")).toEqual({ to: "calls", callId: "c1" });
  });

  test.each([
    "/",
    "",
    "/api",
    "/api/callsx",
    "*",
    "/mcp/",
    "//mcp",
    "/a/b/mcp",
    "/files",
    "/files/mcp/",
    "/%zz/mcp",
    "http://a/mcp",
    "/healthz/",
  ])("knows nothing at %s", (url) => {
    expect(routeOf(url)).toEqual({ to: "nothing" });
  });
});
