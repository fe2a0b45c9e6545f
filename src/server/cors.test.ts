import { describe, expect, test } from "vitest";
import { createCors } from "./cors.ts";

const APP = "https://app.example";
const PREFLIGHT = { origin: APP, "access-control-request-method": "POST" };

function asked(url: string, headers: Record<string, string>, method = "POST") {
  return { method, url, headers };
}

describe("an answer on a path of MCP", () => {
  const cors = createCors({ allowedOrigins: [APP, "http://localhost:6274"] });

  test.each([
    "/mcp",
    "/mcp?x=1",
    "/files/mcp",
    "/sse",
    "/messages?sessionId=1",
    "/.well-known/oauth-protected-resource/mcp",
  ])("may be read at %s by a page of a listed origin, and by no other", (url) => {
    expect(cors.linesFor(asked(url, { origin: APP })).split("\r\n")).toEqual([
      "Access-Control-Allow-Origin: https://app.example",
      "Vary: Origin",
      "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate, Retry-After, Allow",
      "",
    ]);
    for (const origin of [
      `${APP}.evil.example`,
      "http://app.example",
      `${APP}:8443`,
      "null",
      "*",
      "",
      "http://localhost",
    ])
      expect(cors.linesFor(asked(url, { origin }))).toBe("");
  });

  test("has nothing more where no page asks", () => {
    expect(cors.linesFor(asked("/mcp", {}))).toBe("");
  });

  test("names the origin as the browser does, and lets it send no cookies", () => {
    const lines = cors.linesFor(asked("/mcp", { origin: "HTTPS://APP.example" }));
    expect(lines).toContain("Access-Control-Allow-Origin: HTTPS://APP.example\r\n");
    expect(lines).not.toMatch(/\*|Credentials/);
  });
});

test.each([
  "/",
  "/api/servers",
  "/openapi.json",
  "/metrics",
  "/mcpax/confirm",
  "/approvals/1",
  "/oauth/client.json",
  "/healthz",
])("nothing at %s is for clients", (url) => {
  const cors = createCors({ allowedOrigins: [APP] });
  expect(cors.linesFor(asked(url, { origin: APP }))).toBe("");
  expect(cors.preflightLines(asked(url, PREFLIGHT, "OPTIONS"))).toBeUndefined();
});

describe("a browser that asks beforehand", () => {
  const cors = createCors({ allowedOrigins: [APP] });
  const allowedFor = (headers: string) => {
    const lines = cors.preflightLines(
      asked("/mcp", { ...PREFLIGHT, "access-control-request-headers": headers }, "OPTIONS"),
    );
    return (
      /Access-Control-Allow-Headers: (.*)\r\n/
        .exec(lines ?? "")?.[1]
        ?.toLowerCase()
        .split(", ") ?? []
    );
  };

  test("is told methods, headers and for how long that is so", () => {
    const lines = cors.preflightLines(asked("/mcp", PREFLIGHT, "OPTIONS"));
    expect(lines).toContain("Access-Control-Allow-Methods: GET, POST, DELETE\r\n");
    expect(lines).toContain("Access-Control-Max-Age: 600\r\n");
    expect(allowedFor("")).toEqual([
      ...[
        "authorization",
        "content-type",
        "accept",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
      ],
      ...["last-event-id", "idempotency-key", "traceparent", "tracestate"],
    ]);
  });

  test("may send arguments as headers of any name, and nothing that proxies say", () => {
    const allowed = allowedFor(
      "mcp-param-region, Mcp-Param-Zone,mcp-param-,x-forwarded-for, forwarded, cookie, mcp-param-a b",
    );
    expect(allowed.slice(11)).toEqual(["mcp-param-region", "mcp-param-zone"]);
  });

  test.each([
    ["from another origin", { ...PREFLIGHT, origin: "https://evil.example" }, "OPTIONS"],
    ["without an origin", { "access-control-request-method": "POST" }, "OPTIONS"],
    ["about nothing", { origin: APP }, "OPTIONS"],
    ["by another method", PREFLIGHT, "POST"],
  ])("gets no answer of ours %s", (_what, headers, method) => {
    expect(cors.preflightLines(asked("/mcp", headers, method))).toBeUndefined();
  });
});

test("another list counts at once", () => {
  const options = { allowedOrigins: [APP] };
  const cors = createCors(options);
  expect(cors.linesFor(asked("/mcp", { origin: APP }))).not.toBe("");
  options.allowedOrigins = ["https://other.example"];
  expect(cors.linesFor(asked("/mcp", { origin: APP }))).toBe("");
  expect(cors.linesFor(asked("/mcp", { origin: "https://other.example" }))).not.toBe("");
});
