import { describe, expect, test } from "vitest";
import * as z from "zod";
import { mcpConfig, mcpServerSchema, mcpServerShape } from "./mcp-config.ts";

const read = (config: object) => mcpConfig(mcpServerSchema.parse({ id: "x", ...config }));

describe("mcpConfig", () => {
  test.each([
    [{ command: "npx" }, "stdio"],
    [{ url: "http://127.0.0.1:1/mcp" }, "http"],
    [{ url: "http://127.0.0.1:1/mcp", transport: "streamable-http" }, "http"],
    [{ url: "http://127.0.0.1:1/mcp", transport: "streamableHttp" }, "http"],
    [{ url: "http://127.0.0.1:1/sse", transport: "sse" }, "sse"],
  ])("takes %o for %s", (config, transport) => {
    expect(read(config).transport).toBe(transport);
  });

  test("has these defaults", () => {
    expect(read({ command: "x" })).toEqual({
      id: "x",
      transport: "stdio",
      command: "x",
      args: [],
      env: {},
      headers: {},
      sessions: "auto",
      restart: "on-failure",
      maxSessions: 256,
      listTtl: 60_000,
      maxEntries: 10_000,
      maxList: 8 * 1024 * 1024,
      maxMessage: 16 * 1024 * 1024,
    });
  });

  test("makes tasks of slow calls only when told to", () => {
    expect(read({ command: "x", task: "auto" }).task).toBe("auto");
    expect(read({ command: "x" }).task).toBeUndefined();
    expect(mcpServerSchema.safeParse({ id: "x", command: "x", task: "always" }).success).toBe(false);
  });

  test("reads durations and sizes with their units, and plain numbers as ms and bytes", () => {
    const config = read({ command: "x", timeout: "30s", idle: 500, maxMessage: "1MiB" });
    expect(config).toMatchObject({ timeout: 30_000, idle: 500, maxMessage: 1_048_576 });
  });

  test.each([
    [{}, "url: expected a value"],
    [{ transport: "stdio" }, "command: expected a value"],
    [{ command: "x", url: "http://a/" }, "url: not used"],
    [{ url: "ftp://a/" }, "expected an http(s) URL"],
    [{ command: "x", timeout: "soon" }, "expected a duration"],
    [{ command: "x", colour: "red" }, "colour"],
  ])("refuses %o", (config, message) => {
    expect(() => read(config)).toThrow(message);
  });

  test("every key says what it is for, also as JSON Schema", () => {
    const schema = z.toJSONSchema(mcpServerSchema, { io: "input" });
    expect(Object.keys(schema.properties ?? {})).toEqual(Object.keys(mcpServerShape));
    for (const property of Object.values(schema.properties ?? {})) expect(property).toHaveProperty("description");
  });
});
