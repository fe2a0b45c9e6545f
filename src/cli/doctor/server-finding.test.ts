import { describe, expect, test } from "vitest";
import { describeTried, type TriedServer } from "./server-finding.ts";

const stdio = { id: "files", transport: "stdio", command: "files-server" } as const;
const http = { id: "crm", transport: "http", url: "http://127.0.0.1:9000/mcp" } as const;

function tried(
  server: TriedServer["server"],
  summary: TriedServer["summary"],
  more: Partial<TriedServer> = {},
): TriedServer {
  return { server, summary, lastLine: undefined, tookMs: 10_040, ...more };
}

const failed = (message: string, status: "unreachable" | "invalid" | "auth_required" = "unreachable") => ({
  status,
  tools: 0,
  message,
});

describe("describeTried", () => {
  test("counts the tools of a server that works", () => {
    expect(describeTried(tried(stdio, { status: "ok", tools: 1 }))).toEqual({
      level: "ok",
      what: "servers.files",
      found: "1 tool",
    });
  });

  test("remarks on a server that works in part", () => {
    const finding = describeTried(tried(stdio, { status: "ok", tools: 3, message: "a tool has no name" }));
    expect(finding).toMatchObject({ level: "warning", found: "3 tools, but a tool has no name" });
  });

  test.each([
    [
      "a missing command",
      stdio,
      failed('cannot start "files-server": command not found (ENOENT)'),
      /^install files-server/,
    ],
    ["a file that is no program", stdio, failed('cannot start "files-server": not executable (EACCES)'), /chmod \+x/],
    ["a missing folder", stdio, failed('cannot start "x": the directory /x does not exist (ENOENT)'), /cwd/],
    ["a crash", stdio, failed("exited with code 1"), /by hand/],
    [
      "a missing token",
      http,
      failed("The server refused our credentials (HTTP 401).", "auth_required"),
      /Authorization/,
    ],
    ["a wrong path", http, failed("The server answered HTTP 404.", "invalid"), /path of its url/],
    ["nobody there", http, failed("The server cannot be reached (ECONNREFUSED)."), /http:\/\/127\.0\.0\.1:9000\/mcp/],
    ["a web page", http, failed("The server's answer is not a valid message.", "invalid"), /not with MCP/],
    [
      "logs on standard output",
      stdio,
      failed("The server's answer is not a valid message.", "invalid"),
      /standard error/,
    ],
    ["something unheard of", stdio, failed("odd"), /by hand/],
  ])("says what to do about %s", (_what, server, summary, advice) => {
    const finding = describeTried(tried(server, summary));
    expect(finding).toMatchObject({ level: "problem", advice: expect.stringMatching(advice) });
    expect(finding.found).toContain(summary.message);
  });

  test("repeats the last words of a server that died", () => {
    const finding = describeTried(tried(stdio, failed("exited with code 1"), { lastLine: "KEY is not set" }));
    expect(finding.found).toBe("exited with code 1; it last wrote: KEY is not set");
  });

  test("says that a server is silent, and of a package runner that it may be downloading", () => {
    const silent = { status: "starting", tools: 0 } as const;
    expect(describeTried(tried(stdio, silent))).toMatchObject({ level: "problem", found: "said nothing within 10 s" });
    expect(describeTried(tried({ ...stdio, command: "/usr/bin/npx" }, silent)).advice).toMatch(/download/);
    expect(describeTried(tried(http, silent)).advice).toMatch(/MCP endpoint/);
  });
});
