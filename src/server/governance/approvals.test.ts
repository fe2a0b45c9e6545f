import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeMeter, silentLog } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { Config } from "../config/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { readConfig } from "../config/read-config.ts";
import { createApprovals } from "./approvals.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-pages-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function configOf(text: string): Config {
  const file = join(folder, "isthmus.toml");
  writeFileSync(file, text);
  return loadConfig(readConfig([file]), { env: {} });
}

function approvalsFor(text: string, time = new ManualTime()) {
  const ports = { clock: time, timers: time, log: silentLog, meter: new FakeMeter() };
  return createApprovals({
    ...ports,
    config: configOf(text),
    hasRules: () => false,
    refusal: () => undefined,
    isRevoked: () => false,
    offered: () => undefined,
  });
}

test("what is over is swept from the start, before anybody asks for anything, and no longer than until the end", async () => {
  const time = new ManualTime();
  const approvals = approvalsFor("", time);
  expect(time.pending).toBe(0);
  approvals.open();
  expect(time.pending).toBe(1);
  time.advance(5_000);
  await new Promise(setImmediate);
  expect(time.pending).toBe(1);
  await approvals.close();
  expect(time.pending).toBe(0);
});

describe("the pages of approvals", () => {
  test.each([
    ["", "127.0.0.1", "http://127.0.0.1:7411"],
    ["", "::1", "http://[::1]:7411"],
    ["", "0.0.0.0", undefined],
    ["", "::", undefined],
    ['[vault]\npublicUrl = "https://gw.example.com"', "0.0.0.0", "https://gw.example.com"],
    ['[auth]\nresource = "https://gw.example.com/mcp"', "0.0.0.0", "https://gw.example.com"],
  ])("with %j at %s are at %s", (text, host, pages) => {
    const approvals = approvalsFor(text);
    expect(approvals.desk.pages).toBeUndefined();
    approvals.listensOn({ host, port: 7411 });
    expect(approvals.desk.pages).toBe(pages);
  });

  test("move when the config says so, and nothing that was approved is lost by that", () => {
    const approvals = approvalsFor("");
    approvals.listensOn({ host: "127.0.0.1", port: 7411 });
    expect(approvals.apply(configOf('[vault]\npublicUrl = "https://gw.example.com"\n[gate]\nask = "never"'))).toBe(
      false,
    );
    expect(approvals.desk.pages).toBe("https://gw.example.com");
  });
});
