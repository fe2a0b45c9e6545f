import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compareConfigs } from "./check-reload.ts";
import { loadConfig } from "./load-config.ts";
import { readConfig } from "./read-config.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-"));
  writeFileSync(join(folder, "token"), "one");
});
afterEach(() => rmSync(folder, { recursive: true }));

const TABLE = '[[servers]]\nid = "a"\ncommand = "x"\n';
const load = (text: string, running?: ReturnType<typeof loadConfig>) => {
  writeFileSync(join(folder, "isthmus.toml"), text);
  return loadConfig(readConfig([join(folder, "isthmus.toml")]), { env: {}, running });
};

describe("a server that runs", () => {
  test("keeps its secret while the file of it is away, and is not replaced", () => {
    const running = load(`${TABLE}env.T = { fromFile = "token" }\n`);
    rmSync(join(folder, "token"));
    const next = load(`${TABLE}env.T = { fromFile = "token" }\n`, running);
    expect(next.servers[0]?.env.T?.reveal()).toBe("one");
    expect(next.servers[0]).toMatchObject({ kept: expect.stringContaining('the file "token"') });
    expect(next.servers[0]?.fault).toBeUndefined();
    expect(compareConfigs(running, next).changed).toEqual([]);
  });

  test.each([
    ["another command", '[[servers]]\nid = "a"\ncommand = "y"\nenv.T = { fromFile = "token" }\n'],
    ["a variable that is not set", `${TABLE}env.T = { fromEnv = "NOT_SET" }\n`],
    [
      "a variable beside it that is not set",
      `${TABLE}env.T = { fromFile = "token" }\nenv.U = { fromEnv = "NOT_SET" }\n`,
    ],
  ])("is invalid when its table has got %s", (_what, text) => {
    const running = load(`${TABLE}env.T = { fromFile = "token" }\n`);
    rmSync(join(folder, "token"));
    const [server] = load(text, running).servers;
    expect(server?.fault).toBeDefined();
    expect(server?.kept).toBeUndefined();
  });

  test("is invalid when it was before", () => {
    rmSync(join(folder, "token"));
    const running = load(`${TABLE}env.T = { fromFile = "token" }\n`);
    expect(load(`${TABLE}env.T = { fromFile = "token" }\n`, running).servers[0]?.fault).toBeDefined();
  });
});
