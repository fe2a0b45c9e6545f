import { describe, expect, test } from "vitest";
import { describeTried, type TriedServer } from "./server-finding.ts";

const stdio = { id: "files", transport: "stdio", command: "files-server" } as const;
const http = { id: "crm", transport: "http", url: "http://127.0.0.1:9000/mcp" } as const;

function tried(
  server: TriedServer["server"],
  summary: TriedServer["summary"],
  more: Partial<TriedServer> = {},
): TriedServer {
  return {
    server,
    summary,
    wayOut: { proxy: undefined, authority: undefined },
    tookMs: 10_040,
    misnamed: [],
    signInTool: "crm.sign_in",
    ...more,
  };
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

  test("shows words as they are written, not what variables hold", () => {
    const url = "https://hunter2.test/hunter2/mcp";
    const server = { ...http, url, written: { url: "https://${HOST:-far.test}/${KEY:-x}/mcp" } };
    for (const why of ["ECONNREFUSED", "ERR_SSL_WRONG_VERSION_NUMBER", "ENOTFOUND"]) {
      const finding = describeTried(tried(server, failed(`The server cannot be reached (${why}).`)));
      expect(JSON.stringify(finding)).toContain("${KEY:-x}");
      expect(JSON.stringify(finding)).not.toContain("hunter2");
    }
  });

  test("remarks on a server that works in part", () => {
    const finding = describeTried(tried(stdio, { status: "ok", tools: 3, message: "a tool has no name" }));
    expect(finding).toMatchObject({ level: "warning", found: "3 tools, but a tool has no name" });
  });

  test("says which key of its table to raise where a list is cut short", () => {
    const message = "tools/list is cut short: it has more than 3 entries: raise maxEntries of the server";
    expect(describeTried(tried(stdio, { status: "ok", tools: 3, message }))).toMatchObject({
      level: "warning",
      found: "3 tools, but tools/list is cut short: it has more than 3 entries",
      advice: 'raise maxEntries of the server "files"',
    });
  });

  test.each([
    ["Error: Cannot find module '/home/ada/examples/hello/server.mjs'", true],
    ["python3: can't open file '/home/ada/server.py': [Errno 2] No such file or directory", true],
    ["Error: Cannot find module 'C:\\\\work\\\\server.mjs'", true],
    ["Error: Cannot find module 'express'", false],
    ["Error: Cannot find module '/home/ada/lib.mjs' imported from /home/ada/server.mjs", false],
  ])("says of a script that is not there where relative paths start: %j", (line, isMissing) => {
    const { advice } = describeTried(
      tried(stdio, { ...failed("exited with code 1"), lastWords: ["throw err;", line] }),
    );
    expect(advice).toMatch(
      isMissing ? /^there is no such file: .*the folder of the config/ : /^run its command by hand/,
    );
  });

  test("has no fault to find with a server that waits for a sign-in", () => {
    const message = "It must be allowed first: open http://127.0.0.1:7411/oauth/start/crm";
    expect(describeTried(tried(http, failed(message, "auth_required")))).toEqual({
      level: "warning",
      what: "servers.crm",
      found: "it waits for a sign-in",
      advice: "call the tool crm.sign_in: it is done once",
    });
    const each = "Each of its users must allow it first; the tool sign_in says how.";
    expect(describeTried(tried(http, failed(each, "auth_required")))).toEqual({
      level: "ok",
      what: "servers.crm",
      found: "each user signs in once: call the tool crm.sign_in",
    });
  });

  test("advises to sign in where the server tells where, beside a token", () => {
    const refused = failed("The server refused our credentials (HTTP 401).", "auth_required");
    expect(describeTried(tried(http, refused, { hasSignIn: true })).advice).toMatch(
      /Authorization = "Bearer \$\{NAME\}" for "crm"; or let each user sign in: \[servers\.auth\] type = "oauth"$/,
    );
    expect(describeTried(tried(http, refused)).advice).not.toContain("oauth");
    expect(describeTried(tried(http, refused, { hasCredentials: true })).advice).toBe(
      'check the Authorization in [servers.headers] of "crm": the token, and that it is "Bearer ${NAME}", with the word',
    );
  });

  test("names the variable with which a url is not filled in", () => {
    const server = { ...http, url: "http://${NOPE}:7411/mcp" };
    expect(describeTried(tried(server, failed("The server cannot be reached (ENOTFOUND).")))).toEqual({
      level: "problem",
      what: "servers.crm",
      found: "The server cannot be reached (ENOTFOUND); its url is taken as it is written, with ${NOPE} in it",
      advice: "write the address, or ${NOPE:-DEFAULT}: only with a default is a url filled in",
    });
  });

  test.each([
    [
      "a missing command",
      stdio,
      failed('cannot start "files-server": command not found (ENOENT)'),
      /^install files-server/,
    ],
    [
      "arguments in command",
      { ...stdio, command: "node x.mjs --flag" },
      failed('cannot start "node x.mjs --flag": command not found (ENOENT)'),
      /^write command = "node" and args = \["x\.mjs", "--flag"\]/,
    ],
    [
      "TLS at a port without",
      { ...http, url: "https://127.0.0.1:9000/mcp" },
      failed("The server cannot be reached (ERR_SSL_WRONG_VERSION_NUMBER)."),
      /^use http:\/\/127\.0\.0\.1:9000\/mcp: /,
    ],
    [
      "a name of nobody",
      { ...http, url: "http://crm.invalid/mcp" },
      failed("The server cannot be reached (ENOTFOUND)."),
      /^the name crm\.invalid does not resolve/,
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
    const lastWords = ["warming up", "  KEY is not set"];
    const finding = describeTried(tried(stdio, { ...failed("exited with code 1"), lastWords }));
    expect(finding.found).toBe("exited with code 1; it last wrote: warming up | KEY is not set");
  });

  test("names what keeps a package runner from fetching, while it still tries", () => {
    const lastWords = ["npm http fetch GET https://registry.example.com/x attempt 1 failed with ECONNREFUSED"];
    const summary = { status: "starting", tools: 0, lastWords } as const;
    const wayOut = { proxy: "proxy:3128", authority: undefined };
    const finding = describeTried(tried({ ...stdio, command: "npx" }, summary, { wayOut }));
    expect(finding).toMatchObject({ level: "problem", advice: expect.stringContaining("the proxy proxy:3128") });
  });

  test("says that a server is silent, and of a package runner that it may be downloading", () => {
    const silent = { status: "starting", tools: 0 } as const;
    expect(describeTried(tried(stdio, silent))).toMatchObject({ level: "problem", found: "said nothing within 10 s" });
    expect(describeTried(tried({ ...stdio, command: "/usr/bin/npx" }, silent)).advice).toMatch(/download/);
    expect(describeTried(tried(http, silent)).advice).toMatch(/MCP endpoint/);
  });
});
