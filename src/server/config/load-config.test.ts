/** Golden files: the config, a line of dashes, and the result or the errors. `# env NAME=value` lines set variables. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";
import { readConfig } from "./read-config.ts";

const GOLDEN = new URL("golden/", import.meta.url);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function load(files: readonly string[], env: Record<string, string> = {}, flags = {}): string {
  try {
    const config = loadConfig(readConfig(files), { env, flags });
    return JSON.stringify(config, null, 2).replaceAll(folder, "<folder>");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.join("\n").replaceAll(folder, "<folder>");
  }
}

describe("golden configs", () => {
  test.each(readdirSync(GOLDEN).filter((name) => name.endsWith(".txt")))("%s gives what it says", (name) => {
    const [input = "", expected = ""] = readFileSync(new URL(name, GOLDEN), "utf8").split(/^-{3,}\n/m);
    const env = Object.fromEntries([...input.matchAll(/^# env (\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
    expect(load([put("isthmus.toml", input)], env)).toBe(expected.trimEnd());
  });
});

describe("loadConfig", () => {
  test("lets flags win over the file", () => {
    const file = put("isthmus.toml", '[gateway]\nlisten = "127.0.0.1:1"\n');
    const config = loadConfig(readConfig([file]), { env: {}, flags: { listen: "[::1]:2", logLevel: "debug" } });
    expect(config.gateway).toMatchObject({ listen: { host: "::1", port: 2 }, logLevel: "debug" });
  });

  test("reads a secret from a file beside the config, without its last line break", () => {
    put("token", "hunter2\n");
    const file = put(
      "isthmus.toml",
      '[[servers]]\nid = "a"\nurl = "http://127.0.0.1/mcp"\nheaders.X = { fromFile = "token" }\n',
    );
    const config = loadConfig(readConfig([file]), { env: {} });
    expect(config.servers[0]?.headers.X?.reveal()).toBe("hunter2");
    expect(JSON.stringify(config)).not.toContain("hunter2");
  });

  test("takes a seal key from a file beside the config, and says when it is too short", () => {
    put("key", `${"k".repeat(32)}\n`);
    const file = put("isthmus.toml", '[gateway]\nsealKey = { fromFile = "key" }\n');
    const config = loadConfig(readConfig([file]), { env: {} });
    expect(config.gateway.sealKey?.reveal()).toBe("k".repeat(32));
    expect(JSON.stringify(config)).not.toContain("kkk");
    put("key", "k".repeat(31));
    expect(load([file])).toBe("gateway.sealKey: expected at least 32 bytes");
    put("isthmus.toml", '[gateway]\nsealKey = "in the open"\n');
    expect(load([file])).toContain("gateway.sealKey: expected { fromEnv");
  });

  test("names the file that cannot be read", () => {
    expect(load([join(folder, "none.toml")])).toBe("<folder>/none.toml: the file cannot be read (ENOENT)");
  });

  test("takes a server from the nearer file, with that file's folder [MG-321] [MG-322]", () => {
    const near = put("mgp.toml", '[[servers]]\nid = "a"\ncommand = "near"\n');
    const far = put("servers.toml", '[[servers]]\nid = "a"\ncommand = "far"\n[[servers]]\nid = "b"\ncommand = "far"\n');
    const { servers } = loadConfig(readConfig([near, far]), { env: {} });
    expect(servers.map(({ id, command, cwd }) => [id, command, cwd])).toEqual([
      ["a", "near", folder],
      ["b", "far", folder],
    ]);
  });

  test("fills in variables of an MGP file", () => {
    const file = put("mgp.toml", '[[servers]]\nid = "a"\ncommand = "x"\n[servers.env]\nTOKEN = "Bearer ${KEY}"\n');
    const { servers } = loadConfig(readConfig([file]), { env: { KEY: "k" } });
    expect(servers[0]?.env.TOKEN?.reveal()).toBe("Bearer k");
  });
});
