import { describe, expect, test } from "vitest";
import { createTellingFilter } from "./telling-lines.ts";

const tellingOf = (text: string) => text.split("\n").filter(createTellingFilter());

describe("createTellingFilter", () => {
  test("finds the error in what Node writes when a program ends by it", () => {
    const text = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/gone.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`;
    expect(tellingOf(text)).toEqual(["Error: Cannot find module '/srv/gone.js'"]);
  });

  test("finds the error in what Python writes", () => {
    const text = `Traceback (most recent call last):
  File "/srv/server.py", line 3, in <module>
    import mcp_server_fetch
    ^^^^^^^^^^^^^^^^^^^^^^^
  File "/srv/other.py", line 9, in start
    raise Broken()
ModuleNotFoundError: No module named 'mcp_server_fetch'`;
    expect(tellingOf(text)).toEqual(["ModuleNotFoundError: No module named 'mcp_server_fetch'"]);
  });

  test("finds the error in what npm writes", () => {
    const text = `npm warn exec The following package was not found and will be installed: nothing@1.0.0
npm http fetch GET 200 https://registry.example.com/nothing 33ms
npm http fetch GET https://registry.example.com/nothing attempt 1 failed with ENOTFOUND
npm error code E404
npm error
npm error 404 Not Found - GET https://registry.example.com/nothing
npm notice
npm notice New major version of npm available! 10.8.2 -> 11.6.0
npm error A complete log of this run can be found in: /home/ann/.npm/_logs/2026-01-01T00_00_00_000Z-debug-0.log`;
    expect(tellingOf(text)).toEqual([
      "npm http fetch GET https://registry.example.com/nothing attempt 1 failed with ENOTFOUND",
      "npm error code E404",
      "npm error 404 Not Found - GET https://registry.example.com/nothing",
    ]);
  });

  test("finds the error in what npm writes about a package that there is not", () => {
    const text = `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/@modelcontextprotocol%2fserver-filesytem - Not found
npm error 404
npm error 404  '@modelcontextprotocol/server-filesytem@*' is not in this registry.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ann/.npm/_logs/2026-01-01T00_00_00_000Z-debug-0.log`;
    const told = [
      "npm error code E404",
      "npm error 404 Not Found - GET https://registry.npmjs.org/@modelcontextprotocol%2fserver-filesytem - Not found",
      "npm error 404  '@modelcontextprotocol/server-filesytem@*' is not in this registry.",
    ];
    expect(tellingOf(text)).toEqual(told);
    const older = (line: string) => line.replace("npm error", "npm ERR!");
    expect(tellingOf(text.split("\n").map(older).join("\n"))).toEqual(told.map(older));
  });

  test("finds the error in what uv writes, below what it led to", () => {
    const text = `  × Failed to fetch: \`https://pypi.org/simple/mcp-server-fetch/\`
  ├─▶ Request failed after 3 retries
  ╰─▶ invalid peer certificate: UnknownIssuer`;
    expect(tellingOf(text)).toEqual(text.split("\n"));
  });

  test("takes every other line as it is", () => {
    expect(tellingOf("NEEDED_KEY is not set\n\n  see --help")).toEqual(["NEEDED_KEY is not set", "  see --help"]);
  });
});
