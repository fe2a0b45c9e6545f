/** A person's home folder: a bare clone, and Claude Desktop's file with the servers they use. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { git, parts } from "../../needs/programs.ts";
import { ROOT } from "../kit/program.ts";

export class Newcomer implements Disposable {
  /** Everything of this person is below it. */
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), "isthmus-newcomer-"));
  readonly home = join(this.folder, "home");
  readonly clone = join(this.home, "isthmus");
  readonly clientFile = join(
    this.home,
    process.platform === "darwin" ? "Library/Application Support" : ".config",
    "Claude/claude_desktop_config.json",
  );

  constructor() {
    copyClone(this.clone);
    this.#write("notes/shopping.txt", "milk\n");
    this.#write("tickets/server.mjs", 'console.error("TICKETS_URL is not set");\nprocess.exit(1);\n');
    // Packages that a reader would get from the registry are those of tests/parts.
    const part = `'${pathOf(parts)}/'"$1"/dist/index.js`;
    this.#write("bin/npx", `#!/bin/sh\n[ "$1" = -y ] && shift\nprogram=${part}\nshift\nexec node "$program" "$@"\n`);
    chmodSync(join(this.home, "bin/npx"), 0o755);
  }

  /** As people have it: six servers, of which `weather` is not installed and `tickets` lacks a setting. */
  writeClientFile(): string {
    const official = (name: string, ...args: string[]) => ({
      command: "npx",
      args: ["-y", `@modelcontextprotocol/server-${name}`, ...args],
    });
    const memory = { MEMORY_FILE_PATH: join(this.home, "memory.jsonl") };
    const mcpServers = {
      everything: official("everything"),
      filesystem: official("filesystem", join(this.home, "notes")),
      memory: { ...official("memory"), env: memory },
      hello: { command: "node", args: [join(this.clone, "examples/hello/server.mjs")] },
      weather: { command: "wttr-mcp", args: ["--units", "metric"] },
      tickets: {
        command: "node",
        args: [join(this.home, "tickets/server.mjs")],
        env: { TICKETS_TOKEN: "tk_live_8f0a9c4d7b6e51aa" },
      },
    };
    const text = `${JSON.stringify({ globalShortcut: "Ctrl+Space", mcpServers }, undefined, "\t")}\n`;
    this.#write(this.clientFile.slice(this.home.length + 1), text);
    return text;
  }

  /** Of their shells: nothing of the developer's but the way to the registry. */
  environment(port: number): Record<string, string> {
    const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
    const network = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$|_CA_CERTS$/i.test(name));
    return {
      PATH: [join(this.home, "bin"), ...path].join(delimiter),
      HOME: this.home,
      TERM: "screen",
      LANG: "C.UTF-8",
      PS1: "$ ",
      // Somebody else may have 7411 on this machine.
      ISTHMUS_LISTEN: `127.0.0.1:${port}`,
      npm_config_cache: npmSetting("cache"),
      npm_config_userconfig: npmSetting("userconfig"),
      npm_config_prefer_offline: "true",
      npm_config_update_notifier: "false",
      ...Object.fromEntries(network.map(([name, value]) => [name, value ?? ""])),
    };
  }

  #write(path: string, text: string): void {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a clone of this tree would hold if it were committed as it stands. */
export function copyClone(to: string): void {
  const listed = execFileSync(pathOf(git), ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const deleted = execFileSync(pathOf(git), ["ls-files", "-d", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0");
  for (const file of listed.split("\0").filter((name) => name !== "" && !deleted.includes(name))) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(to, file));
  }
}

function npmSetting(name: string): string {
  return execFileSync("npm", ["config", "get", name], { cwd: ROOT, encoding: "utf8", stdio: "pipe" }).trim();
}
