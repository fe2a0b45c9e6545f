/** What `npm pack` makes: what is in it, and that it runs where nothing of a clone is. */
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { freePort } from "../cli/workspace.ts";
import { descendants, waitForEnd } from "../kit/processes.ts";
import { ROOT } from "../kit/program.ts";
import { Installed, untilServing } from "./installed.ts";

const MIB = 1024 * 1024;
const DEMO = ["call", "demo.greet", "name=Ada"].join(" ");

type Command = readonly [string, ...string[]];

let installed: Installed;
let said: string;
beforeAll(() => {
  installed = new Installed();
  said = installed.installGlobally();
}, 240_000);
afterAll(() => installed[Symbol.dispose]());

describe("the package", () => {
  test("holds the program, its schema, its guide with the example of it, and the terms of what is in it, and no source map", () => {
    const example = installed.files().filter((path) => path.startsWith("examples/"));
    expect(example).toEqual(
      ["README.md", "check.mjs", "isthmus.toml", "server.mjs"].map((name) => `examples/hello/${name}`),
    );
    const programs = installed.files().filter((path) => path.endsWith(".js"));
    expect(programs).toContain("dist/isthmus.js");
    const docs = installed.files().filter((path) => path.startsWith("docs/"));
    expect(docs).toEqual(expect.arrayContaining(["docs/guide/README.md", "docs/reference/config.md"]));
    expect(docs.filter((path) => !/^docs\/(?:guide|reference)\//.test(path))).toEqual([]);
    expect(installed.files().filter((path) => ![...programs, ...docs, ...example].includes(path))).toEqual([
      ...["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"],
      ...["dist/isthmus.schema.json", "dist/licenses.txt", "dist/package.json", "package.json"],
    ]);
    expect(statSync(installed.tarball).size).toBeLessThan(2 * MIB);
  });

  test("depends on what the program loads by name, and on nothing that it holds itself", () => {
    const dist = join(ROOT, "dist");
    const programs = readdirSync(dist).filter((name) => name.endsWith(".js"));
    const text = programs.map((name) => readFileSync(join(dist, name), "utf8")).join("\n");
    const loads = text.matchAll(/\b(?:require|load|paths)\("((?!node:)[^".][^"]*)"\)/g);
    const names = new Set([...loads].map(([, name = ""]) => name).filter((name) => !isBuiltin(name)));
    expect(Object.keys(manifest.dependencies)).toEqual([...names].sort());
    const held = readFileSync(join(dist, "licenses.txt"), "utf8").matchAll(/^(\S+) \d\S* \(.*\)$/gm);
    expect([...held].map(([, name = ""]) => name).filter((name) => installed.packages().includes(name))).toEqual([]);
  });
});

describe("isthmus, installed with npm i -g", () => {
  test("is no reason for npm to warn of anything", () => {
    expect(said).toContain("added ");
    expect(said).not.toMatch(/EBADENGINE|deprecated|install-scripts/);
  });

  test("says its version, and reads a config with an expression in it", () => {
    expect(installed.run("isthmus --version").trim()).toBe(manifest.version);
    expect(installed.run("command -v isthmus").trim()).toBe(join(installed.prefix, "bin/isthmus"));
    const server = '[[servers]]\nid = "a"\ncommand = "no-such-program"\n';
    const rule = `[[access.rules]]\nmatch = "a.greet"\nwhen = 'args.name == "root"'\neffect = "deny"\n`;
    writeFileSync(join(installed.home, "rules.toml"), server + rule);
    expect(installed.run("isthmus doctor --config rules.toml 2>&1 || true")).not.toMatch(/access.rules|cel-js/);
  });

  test("brings the server that its guide begins with, in a folder that can be copied to where one works", () => {
    installed.run(`cp -r "$(npm root -g --prefix '${installed.prefix}')/isthmus/examples" .`);
    installed.run("isthmus add hello --config hello.toml -- node examples/hello/server.mjs");
    const port = '[gateway]\nlisten = "127.0.0.1:0"\n';
    const config = join(installed.home, "hello.toml");
    writeFileSync(config, `${port}${readFileSync(config, "utf8")}`);
    expect(installed.run("isthmus call hello.greet name=Ada --config hello.toml 2>&1")).toContain("Hello, Ada!");
  });

  test("keeps its state by the SQLite that was installed with it, whatever version that is", () => {
    const config = `[gateway]\nstate = "${join(installed.home, "state")}"\n[auth]\ntokens = true\n`;
    writeFileSync(join(installed.home, "kept.toml"), config);
    expect(installed.run("isthmus token create --user ann --config kept.toml --json")).toMatch(/"token":/);
  });

  const withNpx = (): Command => [
    "npx",
    "--yes",
    "--prefer-offline",
    `--package=${installed.tarball}`,
    "isthmus",
    "up",
  ];
  test.each<[string, () => Command]>([
    ["isthmus up", () => ["isthmus", "up"]],
    ["npx isthmus up", withNpx],
  ])("%s serves the demo, and a kill ends all of it", { timeout: 120_000 }, async (_, command) => {
    const host = `127.0.0.1:${await freePort()}`;
    const child = installed.start(command(), { ISTHMUS_LISTEN: host });
    const pid = child.pid as number;
    try {
      await untilServing(`http://${host}`);
      expect(installed.run(`isthmus ${DEMO}`, { ISTHMUS_LISTEN: host })).toContain("Hello, Ada!");
      const all = [pid, ...descendants(pid)];
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      expect(await waitForEnd(all, 15_000)).toEqual([]);
    } finally {
      for (const left of [pid, ...descendants(pid)])
        if ((await waitForEnd([left], 0)).length > 0) process.kill(left, "SIGKILL");
    }
  });

  test("names pages of its guide that are there, and help is as wide as a page", () => {
    const help = installed.run("isthmus --help");
    const [, guide = ""] = /^The guide: (.*)$/m.exec(help) ?? [];
    expect(statSync(guide.replace(/^~/, installed.home)).isFile()).toBe(true);
    writeFileSync(join(installed.home, "wrong.toml"), "unknown = 1\n");
    const said = installed.run("isthmus doctor --json --config wrong.toml 2>&1 || true");
    const [, page = ""] = /correct it; (\S+)/.exec(said) ?? [];
    expect(statSync(page.replace(/^~/, installed.home)).isFile()).toBe(true);
    const wide = help.split("\n").filter((line) => line.length > 80 && !line.startsWith("The guide"));
    expect(wide).toEqual([]);
  });

  test("points a client at what is there, wherever it was started from", () => {
    const file = join(installed.home, "client.json");
    const entry = (command: string, path: string): object => {
      writeFileSync(file, '{ "mcpServers": { "a": { "command": "x" } } }');
      installed.run(`${command} import client.json --connect --config ${join(installed.home, "connect.toml")}`, {
        PATH: path,
      });
      rmSync(join(installed.home, "connect.toml"));
      return JSON.parse(readFileSync(file, "utf8")).mcpServers.isthmus;
    };
    const { PATH: path = "" } = installed.environment();
    const bare = path.split(delimiter).filter((folder) => folder !== join(installed.prefix, "bin"));
    const byPaths = {
      command: process.execPath,
      args: [join(installed.prefix, "bin/isthmus"), "stdio", "--config", expect.anything()],
    };
    // What is on our PATH may not be on the one that a client has.
    expect(entry("isthmus", path)).toMatchObject(byPaths);
    expect(entry(join(installed.prefix, "bin/isthmus"), bare.join(delimiter))).toMatchObject(byPaths);
    const npx = `npx --yes --prefer-offline --package=${installed.tarball} isthmus`;
    expect(entry(npx, bare.join(delimiter))).toMatchObject({
      command: "npx",
      args: ["-y", `--package=${installed.tarball}`, "isthmus", "stdio", "--config", expect.anything()],
    });
  });

  test("names what to type as it was called itself: by its name, or through npx", async () => {
    const env = { ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` };
    expect(installed.run("isthmus status 2>&1 || true", env)).toContain('"isthmus up" starts one');
    const npx = `npx --yes --prefer-offline --package=${installed.tarball} isthmus`;
    const said = installed.run(`${npx} status 2>&1 || true`, env);
    expect(said).toContain(`"npx --package=${installed.tarball} isthmus up" starts one`);
  });

  test("reads a file of variables itself, and lets none of it steer Node", () => {
    const evil = join(installed.home, "evil.cjs");
    writeFileSync(evil, 'console.log("evil runs");\n');
    writeFileSync(join(installed.home, "evil.env"), `NODE_OPTIONS=--require=${evil}\n`);
    const said = installed.run("isthmus list -e evil.env 2>&1 || true");
    expect(said).toContain("sets NODE_OPTIONS, which is not for the gateway");
    expect(said).not.toContain("evil runs");
  });

  test("on an older Node says in one line what it needs and what to do", () => {
    const fake = join(installed.home, "old-node.cjs");
    writeFileSync(fake, 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });\n');
    const program = join(installed.prefix, "lib/node_modules/isthmus/dist/isthmus.js");
    const said = installed.run(`node -r '${fake}' '${program}' up 2>&1 || true`);
    expect(said).toBe(
      "isthmus needs Node 22.12 or newer, this is 20.20.2: install a newer one (https://nodejs.org), then start it again\n",
    );
  });
});
