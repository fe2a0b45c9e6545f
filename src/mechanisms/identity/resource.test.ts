import { describe, expect, test } from "vitest";
import { refuse, scopesMissing } from "./refusal.ts";
import { Resource, type ResourceConfig } from "./resource.ts";

const make = (change: Partial<ResourceConfig> = {}) =>
  new Resource({
    base: "https://gw.example",
    isTls: false,
    issuers: ["https://login.example"],
    scopes: ["mcp"],
    ...change,
  });
const at = (url: string, host = "gw.example") => ({ url, headers: { host } });

describe("Resource", () => {
  test("says which endpoint it is and who gives out tokens for it", () => {
    expect(make().metadata(at("/x"), "/ops/mcp")).toEqual({
      resource: "https://gw.example/ops/mcp",
      authorization_servers: ["https://login.example"],
      scopes_supported: ["mcp"],
      bearer_methods_supported: ["header"],
      resource_name: "Isthmus",
    });
  });

  test("tells whoever shows nothing where to look, and calls that no error", () => {
    expect(make().challenge(at("/ops/mcp"), refuse("missing"))).toBe(
      'WWW-Authenticate: Bearer resource_metadata="https://gw.example/.well-known/oauth-protected-resource/ops/mcp", scope="mcp"\r\n',
    );
  });

  test("tells whoever shows a bad token what is wrong with it", () => {
    expect(make({ scopes: [] }).challenge(at("/metrics"), refuse("expired"))).toBe(
      'WWW-Authenticate: Bearer resource_metadata="https://gw.example/.well-known/oauth-protected-resource", error="invalid_token", error_description="The token has expired."\r\n',
    );
  });

  test("goes by the Host of the client where it was not told its own", () => {
    const resource = make({ base: undefined, scopes: [] });
    expect(resource.metadata(at("/x", "127.0.0.1:7411"), "/mcp")).toMatchObject({
      resource: "http://127.0.0.1:7411/mcp",
    });
    expect(resource.challenge(at("/mcp", "[::1]:7411"), refuse("missing"))).toContain('"http://[::1]:7411/.well-known');
  });

  test("sends nobody to look for an issuer where there is none", () => {
    const resource = make({ issuers: [], scopes: [] });
    expect(resource.metadata(at("/x"), "/mcp")).toBeUndefined();
    expect(resource.challenge(at("/mcp"), refuse("missing"))).toBe('WWW-Authenticate: Bearer realm="Isthmus"\r\n');
  });

  test.each(['a"b', "a b", "a,b", "a\\b", "evil.example/x"])("puts no Host into a header that is none: %j", (host) => {
    const resource = make({ base: undefined, scopes: [] });
    expect(resource.challenge(at("/mcp", host), refuse("missing"))).toBe("WWW-Authenticate: Bearer\r\n");
  });

  test("puts no path into a header that would end its quotes", () => {
    expect(make({ scopes: [] }).challenge(at('/a"b/mcp'), refuse("missing"))).toContain(
      'oauth-protected-resource"\r\n',
    );
  });

  test("names the scopes that are missing, and says nothing where none would help", () => {
    expect(make().challenge(at("/mcp"), scopesMissing(["a", 'b"', "c d"]))).toContain(
      'error="insufficient_scope", scope="a"',
    );
    expect(make().challenge(at("/mcp"), scopesMissing([]))).toBe("");
  });
});
