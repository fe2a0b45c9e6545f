import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { appendServers, type NewServer, serverText } from "./server-text.ts";

const files: NewServer = { id: "files", command: "npx", args: ["-y", "@x/files", "."] };

describe("serverText", () => {
  test("writes a table that a person would write", () => {
    const server: NewServer = {
      ...files,
      prefix: "",
      env: { TOKEN: { fromEnv: "TOKEN" }, KEY: { fromFile: ".isthmus/secrets/k" }, "odd name": "1" },
    };
    expect(serverText(server)).toBe(
      [
        "[[servers]]",
        'id = "files"',
        'command = "npx"',
        'args = ["-y", "@x/files", "."]',
        'prefix = ""',
        "[servers.env]",
        'TOKEN = { fromEnv = "TOKEN" }',
        'KEY = { fromFile = ".isthmus/secrets/k" }',
        '"odd name" = "1"',
        "",
      ].join("\n"),
    );
  });

  test("leaves out what says nothing", () => {
    expect(serverText({ id: "a", command: "b", args: [], env: {} })).toBe('[[servers]]\nid = "a"\ncommand = "b"\n');
  });

  test.each(['quote " and \\', "line\nend", "tab\t\u0000\u001f\u007f", "ü € 😀", "C:\\Users\\x", "${NAME}", "\ud800"])(
    "keeps %j through TOML",
    (text) => {
      const server: NewServer = { id: "a", command: text, args: [text], env: { [text]: text } };
      const kept = text.toWellFormed();
      expect(parse(serverText(server))).toEqual({
        servers: [{ id: "a", command: kept, args: [kept], env: { [kept]: kept } }],
      });
    },
  );
});

describe("appendServers", () => {
  const table = serverText(files);

  test("begins a file", () => {
    expect(appendServers("", [files])).toBe(table);
  });

  test("keeps what stands there, byte for byte, with one empty line between", () => {
    const text = "# mine\n[gateway]   # spaces\nlisten = '127.0.0.1:1'";
    for (const before of [text, `${text}\n`, `${text}\n\n`]) {
      const after = appendServers(before, [files, { ...files, id: "b" }]);
      expect(after.startsWith(before)).toBe(true);
      expect(after).toContain(`'127.0.0.1:1'\n\n${table}\n[[servers]]\nid = "b"`);
    }
  });

  test("keeps the line ends of Windows", () => {
    const after = appendServers("a = 1\r\n", [files]);
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });
});
