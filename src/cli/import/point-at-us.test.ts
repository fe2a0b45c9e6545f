import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readClientDocument } from "./client-document.ts";
import { ourAddress, ourCommand, pointAtUs } from "./point-at-us.ts";

const context = { env: {}, folder: "/work", home: "/home/ada" };
const ours = { command: "isthmus", args: ["stdio"] };

function pointed(text: string, kept: string[] = [], entry: Parameters<typeof pointAtUs>[1] = ours) {
  return pointAtUs(readClientDocument(text, context), entry, kept);
}

describe("pointAtUs", () => {
  test("changes the servers and nothing else, comments and indentation included", () => {
    const text =
      '{\n    // mine\n    "theme": "dark",\n    "mcpServers": { "a": { "command": "x" } }, // old\n    "last": 1,\n}\n';
    expect(pointed(text)).toBe(
      [
        "{",
        "    // mine",
        '    "theme": "dark",',
        '    "mcpServers": {',
        '        "isthmus": {',
        '            "command": "isthmus",',
        '            "args": [',
        '                "stdio"',
        "            ]",
        "        }",
        "    }, // old",
        '    "last": 1,',
        "}",
        "",
      ].join("\n"),
    );
  });

  test("keeps entries that are nowhere else, and line ends of Windows", () => {
    const text = '{\r\n  "mcpServers": { "off": { "command": "x", "disabled": true } }\r\n}';
    const after = pointed(text, ["off"]);
    expect(JSON.parse(after).mcpServers).toEqual({ isthmus: ours, off: { command: "x", disabled: true } });
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("tells VS Code the type, and gives an address where that is wanted", () => {
    const url = "http://127.0.0.1:7411/mcp";
    const after = pointed('{"servers":{},"inputs":[]}', [], { url });
    expect(JSON.parse(after)).toEqual({ servers: { isthmus: { type: "http", url } }, inputs: [] });
    expect(JSON.parse(pointed('{"mcp":{"servers":{}}}')).mcp.servers.isthmus).toEqual({ type: "stdio", ...ours });
  });

  test.each([
    ["claude-code", { type: "http", url: "http://127.0.0.1:7411/mcp" }],
    ["cursor", { url: "http://127.0.0.1:7411/mcp" }],
    ["windsurf", { serverUrl: "http://127.0.0.1:7411/mcp" }],
    ["cline", { type: "streamableHttp", url: "http://127.0.0.1:7411/mcp" }],
    ["gemini", { httpUrl: "http://127.0.0.1:7411/mcp" }],
    ["lmstudio", { url: "http://127.0.0.1:7411/mcp" }],
    ["claude", undefined],
  ])("spells an address as %s reads it", (client, entry) => {
    expect(ourAddress(client, "http://127.0.0.1:7411/mcp")).toEqual(entry);
  });

  test("starts us by whole paths also where our name is found here, and by npx what npx has fetched", () => {
    const folder = mkdtempSync(join(tmpdir(), "isthmus-path-"));
    const program = join(folder, "isthmus");
    writeFileSync(program, "", { mode: 0o755 });
    const entry = ourCommand(program, { PATH: folder }, "/c.toml");
    rmSync(folder, { recursive: true });
    expect(entry).toEqual({ command: process.execPath, args: [program, "stdio", "--config", "/c.toml"] });
    expect(ourCommand("/home/a/.npm/_npx/1/isthmus.js", {}, "/c.toml")).toEqual({
      command: "npx",
      args: ["-y", "isthmus", "stdio", "--config", "/c.toml"],
    });
  });

  test("changes nothing the second time", () => {
    const once = pointed('{ "mcpServers": {} }');
    expect(pointed(once)).toBe(once);
  });
});
