import { describe, expect, test } from "vitest";
import { terminalFormat } from "./terminal-lines.ts";

const TIME = "2026-01-02T03:04:05.678Z";

describe("terminalFormat", () => {
  const format = terminalFormat(() => false);

  test("tells a finished call in one short line, and how to learn more when it failed", () => {
    const call = { callId: "c-1", target: "files/read", principal: "local", front: "mcp", durationMs: 1.5 };
    expect(format(TIME, "info", "call finished", { ...call, code: "ok" })).toBe("03:04:05  files/read: ok, 1.5 ms\n");
    expect(format(TIME, "info", "call finished", { ...call, code: "NOT_READY" })).toBe(
      '03:04:05  files/read: NOT_READY, 1.5 ms; "isthmus trace c-1" shows more\n',
    );
  });

  test("says what a server has become, without letting it steer the terminal", () => {
    const fields = { provider: "crm", status: "unreachable", reason: "gone\u001b[2J" };
    expect(format(TIME, "warn", "provider state", fields)).toBe("03:04:05  crm: unreachable, gone [2J\n");
    expect(format(TIME, "info", "provider state", { provider: "crm", status: "ok", reason: undefined })).toBe(
      "03:04:05  crm: ok\n",
    );
  });

  test("gives every problem of a refused config a line of its own", () => {
    const text = format(TIME, "error", "config refused, the old one stays", {
      problems: ["a.toml:1: x", "a.toml:2: y"],
    });
    expect(text).toBe(
      "03:04:05  the config was refused, the old one stays:\n            a.toml:1: x\n            a.toml:2: y\n",
    );
  });

  test("is silent about each further attempt to start a server", () => {
    expect(format(TIME, "warn", "upstream session failed", { provider: "crm" })).toBe("");
  });

  test("leaves everything else as the log has it", () => {
    expect(format(TIME, "warn", "list cut short", { provider: "crm" })).toBe(
      "03:04:05.678 warn  list cut short           provider=crm\n",
    );
  });

  test("leaves to the screen what it shows at the moment", () => {
    const starting = terminalFormat((message) => message === "provider state");
    expect(starting(TIME, "warn", "provider state", { provider: "crm", status: "unreachable" })).toBe("");
    expect(starting(TIME, "error", "config refused, the old one stays", { problems: ["x"] })).not.toBe("");
  });
});
