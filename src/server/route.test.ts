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

  test.each([
    ["", ""],
    ["/mcp", "/mcp"],
    ["/ops/mcp?x", "/ops/mcp"],
    ["/a%20b/mcp", "/a%20b/mcp"],
    ["/sse", "/sse"],
  ])("knows the metadata of the resource at %j", (path, resource) => {
    expect(routeOf(`/.well-known/oauth-protected-resource${path}`)).toEqual({ to: "metadata", resource });
  });

  test.each(["/", "x", "/api/calls", "/metrics", "//mcp"])("knows no metadata of %j", (path) => {
    expect(routeOf(`/.well-known/oauth-protected-resource${path}`)).toEqual({ to: "oauth" });
  });

  test.each(["/register", "/token?x=1", "/authorize", "/.well-known/oauth-authorization-server/mcp"])(
    "knows %s as a place of OAuth, of which there is none",
    (url) => {
      expect(routeOf(url)).toEqual({ to: "oauth" });
    },
  );

  test.each(["/api/calls", "/api/calls?x=1", "/api/calls/c1?x=1", "/api/nothing", "/openapi.json", "/openapi.json?x"])(
    "leaves %s to whoever serves the operations",
    (url) => {
      expect(routeOf(url)).toEqual({ to: "admin" });
    },
  );

  test.each(["/approvals/1", "/approvals/", "/approvals/mcp", "/approvals/1?x"])(
    "leaves %s to the page of an approval",
    (url) => {
      expect(routeOf(url)).toEqual({ to: "approvals" });
    },
  );

  test.each(["/", "/?x=1"])("knows what stands at %s", (url) => {
    expect(routeOf(url)).toEqual({ to: "home" });
  });

  test.each([
    "",
    "/api",
    "/approvals",
    "/apix",
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
