/** Golden files: the config, a line of dashes, and the result, which servers are invalid, or the errors. `# env NAME=value` lines set variables. */
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
    const faults = config.servers.flatMap(({ id, fault }) => (fault === undefined ? [] : `${id} is invalid: ${fault}`));
    if (faults.length > 0) return faults.join("\n");
    return JSON.stringify(config, null, 2).replaceAll(folder, "<folder>");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems
      .join("\n")
      .replaceAll(`${folder}/isthmus.toml`, "isthmus.toml")
      .replaceAll(folder, "<folder>");
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

  test("fills in variables with a default where a server is started or reached, and leaves others as they are", () => {
    const local =
      'id = "a"\ncommand = "${RUN:-node}"\nargs = ["${ROOT:-.}/a.js", "-c", "echo ${HOME}"]\ncwd = "${AT:-sub}"\n';
    const remote = 'id = "b"\nurl = "${BASE:-https://fallback.test}/mcp"\n';
    const raw = readConfig([put("isthmus.toml", `[[servers]]\n${local}[[servers]]\n${remote}`)]);
    const seen = (env: Record<string, string>) =>
      loadConfig(raw, { env: { HOME: "/h", ...env } }).servers.map(({ command, args, cwd, url }) =>
        url === undefined ? [command, ...args, cwd] : [url],
      );
    expect(seen({ ROOT: "" })).toEqual([
      ["node", "./a.js", "-c", "echo ${HOME}", join(folder, "sub")],
      ["https://fallback.test/mcp"],
    ]);
    expect(seen({ RUN: "bun", ROOT: "/r", AT: "/at", BASE: "http://b.test" })).toEqual([
      ["bun", "/r/a.js", "-c", "echo ${HOME}", "/at"],
      ["http://b.test/mcp"],
    ]);
  });

  test("shows words as they are written where variables are filled in: in problems, and for those who look later", () => {
    const env = { KEY: "hunter2" };
    const raw = (url: string) => readConfig([put("isthmus.toml", `[[servers]]\nid = "a"\nurl = "${url}"\n`)]);
    const [server] = loadConfig(raw("https://far.test/${KEY:-x}/mcp"), { env }).servers;
    expect(server).toMatchObject({
      url: "https://far.test/hunter2/mcp",
      written: { url: "https://far.test/${KEY:-x}/mcp" },
    });
    expect(loadConfig(raw("https://far.test/mcp"), { env }).servers[0]?.written).toBeUndefined();
    for (const url of ["${KEY:-x}", "ftp://${KEY:-x}", "http://[${KEY:-x}"]) {
      const said = load([put("isthmus.toml", `[[servers]]\nid = "a"\nurl = "${url}"\n`)], env);
      expect(said).toBe(`isthmus.toml:3: servers.a.url: expected an http(s) URL, found ${JSON.stringify(url)}`);
    }
  });

  test("fills in nothing of what stands in no file", () => {
    const raw = readConfig([put("isthmus.toml", '[[servers]]\nid = "a"\nurl = "http://a.test/${KEY:-x}"\n')]);
    const added = { servers: [{ id: "b", url: "http://b.test/${KEY:-x}" }], catalogs: [] };
    const { servers } = loadConfig(raw, { env: { KEY: "hunter2" }, added });
    expect(servers.map(({ url }) => url)).toEqual(["http://a.test/hunter2", "http://b.test/${KEY:-x}"]);
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
    expect(load([file])).toBe("isthmus.toml:2: gateway.sealKey: expected at least 32 bytes");
    put("isthmus.toml", '[gateway]\nsealKey = "in the open"\n');
    expect(load([file])).toContain("gateway.sealKey: expected { fromEnv");
  });

  test("names as reasons for a refusal only what stops the whole gateway", () => {
    const server = '[[servers]]\nid = "a"\ncommand = "x"\nenv.A = "${UNSET}"\nheaders.B = { fromFile = "none" }\n';
    const file = put("isthmus.toml", `[gateway]\ncolour = 1\n${server}`);
    const said = load([file]);
    expect(said).toContain("gateway.colour: unknown key");
    expect(said.split("\n")).toHaveLength(1);
  });

  test("takes for right what is not known where other variables may count", () => {
    put(
      "isthmus.toml",
      `[database]\nurl = { fromEnv = "DBURL" }\n[shared]\nurl = "\${REDIS_URL}"\n[audit]\notlp = true\n`,
    );
    const raw = readConfig([join(folder, "isthmus.toml")]);
    expect(loadConfig(raw, { env: {}, allowsUnset: true }).servers).toEqual([]);
    expect(() => loadConfig(raw, { env: { DBURL: "mysql:x" }, allowsUnset: true })).toThrow(
      /isthmus\.toml:2: database\.url: expected a URL that begins/,
    );
  });

  test("names the file that cannot be read", () => {
    expect(load([join(folder, "none.toml")])).toBe("<folder>/none.toml: there is no such file");
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

  test("says it of the right file when something else stands in the place of a list", () => {
    const near = put("mgp.toml", '[[servers]]\nid = "a"\ncommand = "near"\n');
    const far = put("servers.toml", '\nservers = "none"\n');
    expect(load([near, far])).toBe('<folder>/servers.toml:2: servers: expected a list, found "none"; write it in [ ]');
  });

  test("says what is wrong in every file, and in which", () => {
    const near = put("mgp.toml", "[gateway]\ndrain = 1\n");
    const far = put("servers.toml", '[gateway]\ntimeout = 2\n[[servers]]\nid = "a"\n');
    expect(load([near, far]).split("\n")).toEqual([
      expect.stringContaining("<folder>/mgp.toml:2: gateway.drain: "),
      expect.stringContaining("<folder>/servers.toml:2: gateway.timeout: "),
      expect.stringContaining("<folder>/servers.toml:3: servers.a.url: "),
    ]);
    put("mgp.toml", "a = ");
    put("servers.toml", "b = ");
    expect(load([near, far]).split("\n")).toEqual([
      expect.stringContaining("<folder>/mgp.toml:1:"),
      expect.stringContaining("<folder>/servers.toml:1:"),
    ]);
  });

  test("tells the first of very many problems, and how many are left", () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `colour_${index} = 1`);
    const lines = load([put("isthmus.toml", keys.join("\n"))]).split("\n");
    expect(lines).toHaveLength(21);
    expect(lines[0]).toContain("isthmus.toml:1: colour_0: unknown key");
    expect(lines[20]).toBe("and 980 more; these come first");
  });

  test("keeps each problem on one short line, whatever the file holds", () => {
    const id = `x\\n\\u001b[2J${"y".repeat(10_000)}`;
    const lines = load([put("isthmus.toml", `"${id}" = 1\n[[servers]]\nid = "${id}"\n`)]).split("\n");
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^isthmus\.toml:\d: \P{C}{1,400}$/u);
  });

  test("says that a file is too large to be a config", () => {
    expect(load([put("isthmus.toml", "# x\n".repeat(300_000))])).toBe("isthmus.toml: the file is larger than 1024 KiB");
  });

  test("fills in variables of an MGP file", () => {
    const file = put("mgp.toml", '[[servers]]\nid = "a"\ncommand = "x"\n[servers.env]\nTOKEN = "Bearer ${KEY}"\n');
    const { servers } = loadConfig(readConfig([file]), { env: { KEY: "k" } });
    expect(servers[0]?.env.TOKEN?.reveal()).toBe("Bearer k");
  });
});
