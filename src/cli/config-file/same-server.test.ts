import { describe, expect, test } from "vitest";
import { isSameServer } from "./same-server.ts";
import type { NewServer } from "./server-text.ts";

const FILES = { id: "files", prefix: "f", command: "npx", args: ["-y", "files", "/tmp/a"], env: { MODE: "fast" } };
const same = (other: Omit<NewServer, "id">) => isSameServer(FILES, other);
const { id: _id, prefix: _prefix, ...files } = FILES;

describe("isSameServer", () => {
  test("knows a server whatever it is called, and one without settings by its command alone", () => {
    expect(same(files)).toBe(true);
    expect(isSameServer({ command: "x" }, { command: "x", args: [], env: {}, headers: {} })).toBe(true);
  });

  test.each<[string, Partial<NewServer>]>([
    ["another command", { command: "uvx" }],
    ["other arguments", { args: ["-y", "files", "/tmp/b"] }],
    ["another folder", { cwd: "/elsewhere" }],
    ["another variable", { env: { MODE: "fast", ROOT: "/b" } }],
    ["a variable less", { env: {} }],
    ["a variable of another name", { env: { MODUS: "fast" } }],
    ["another value", { env: { MODE: "slow" } }],
    ["a header", { headers: { "X-A": "b" } }],
  ])("tells one with %s from it", (_what, more) => {
    expect(same({ ...files, ...more })).toBe(false);
  });

  test("knows one at an address, and tells another address from it", () => {
    expect(isSameServer({ url: "https://a.test/mcp" }, { url: "https://a.test/mcp" })).toBe(true);
    expect(isSameServer({ url: "https://a.test/mcp" }, { url: "https://b.test/mcp" })).toBe(false);
  });

  test("looks at the name alone where a value is kept elsewhere", () => {
    const kept = { command: "x", env: { TOKEN: { fromFile: ".isthmus/secrets/x-TOKEN" } } };
    expect(isSameServer(kept, { command: "x", env: { TOKEN: "ghp_0123" } })).toBe(true);
  });
});
