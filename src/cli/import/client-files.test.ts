import { describe, expect, test } from "vitest";
import { CLIENTS, clientPlaces } from "./client-files.ts";

const at = (platform: string, env: Record<string, string> = {}) =>
  clientPlaces({ platform, home: "/home/ada", env, folder: "/project" });

describe("clientPlaces", () => {
  test.each([
    ["linux", {}, "/home/ada/.config/Claude/claude_desktop_config.json"],
    ["linux", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/Claude/claude_desktop_config.json"],
    ["darwin", {}, "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"],
    ["win32", { APPDATA: "/roaming" }, "/roaming/Claude/claude_desktop_config.json"],
  ])("knows Claude Desktop on %s %j", (platform, env, file) => {
    expect(at(platform, env).find(({ client }) => client === "claude")?.file).toBe(file);
  });

  test("looks in the project before it looks at the person's own files", () => {
    const files = at("linux").map(({ file }) => file);
    expect(files.indexOf("/project/.cursor/mcp.json")).toBeLessThan(files.indexOf("/home/ada/.cursor/mcp.json"));
    expect(at("linux").filter(({ isProject }) => isProject)).toHaveLength(3);
  });

  test("has a place for every client that can be named", () => {
    const named = new Set(at("linux").map(({ client }) => client));
    expect([...named].toSorted()).toEqual(Object.keys(CLIENTS).toSorted());
  });
});
