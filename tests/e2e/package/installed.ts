/** The packed package, installed as a user installs it, into a folder of its own. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { eventually } from "../../kit/eventually.ts";
import { ROOT } from "../kit/program.ts";

const NPM_MS = 120_000;

export class Installed implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "isthmus-package-"));
  readonly prefix = join(this.#folder, "prefix");
  readonly home = join(this.#folder, "home");
  readonly tarball: string;
  readonly #environment = npmEnvironment(this);

  constructor() {
    mkdirSync(this.home);
    // Without its scripts: dist is built already.
    this.#npm(["pack", "--ignore-scripts", "--pack-destination", this.#folder], ROOT);
    const name = readdirSync(this.#folder).find((file) => file.endsWith(".tgz"));
    this.tarball = join(this.#folder, name ?? "");
  }

  /** Paths in the package. */
  files(): string[] {
    const list = execFileSync("tar", ["tzf", this.tarball], { encoding: "utf8" });
    return list
      .trim()
      .split("\n")
      .map((path) => path.replace(/^package\//, ""))
      .sort();
  }

  /** What npm says about it. */
  installGlobally(): string {
    return this.run(`npm install --global --prefix '${this.prefix}' --prefer-offline '${this.tarball}' 2>&1`);
  }

  /** Packages that were installed with it. */
  packages(): string[] {
    const folder = join(this.prefix, "lib/node_modules/isthmus/node_modules");
    const names = readdirSync(folder).filter((name) => !name.startsWith("."));
    return names.flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : name,
    );
  }

  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...this.#environment, ...more };
  }

  /** What a command of a shell prints in the home of the user. */
  run(command: string, env: Readonly<Record<string, string>> = {}): string {
    const options = { cwd: this.home, env: this.environment(env), encoding: "utf8", timeout: NPM_MS } as const;
    return execFileSync("sh", ["-c", command], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  }

  start(command: readonly [string, ...string[]], env: Readonly<Record<string, string>>) {
    const [file, ...args] = command;
    return spawn(file, args, { cwd: this.home, env: this.environment(env), stdio: "ignore", detached: true });
  }

  #npm(args: readonly string[], cwd: string): void {
    execFileSync("npm", args, { cwd, stdio: "pipe", timeout: NPM_MS });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Of somebody whose npm installs programs below `prefix`, and gets packages from where that of the developer does. */
export function npmEnvironment({ home, prefix }: { home: string; prefix: string }): Record<string, string> {
  // The Node of this test first, whatever the system has.
  const path = [dirname(process.execPath), join(prefix, "bin"), process.env.PATH ?? ""].join(delimiter);
  const kept = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$|_CA_CERTS$/i.test(name));
  const network = Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""]));
  const settings = { npm_config_cache: npmSetting("cache"), npm_config_userconfig: npmSetting("userconfig") };
  return { ...network, ...settings, PATH: path, HOME: home };
}

/** Resolves when a gateway serves there. */
export async function untilServing(origin: string): Promise<void> {
  const isServing = () =>
    fetch(`${origin}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    );
  await eventually(isServing, (isIt) => isIt, 60_000);
}

function npmSetting(name: string): string {
  return execFileSync("npm", ["config", "get", name], { cwd: ROOT, encoding: "utf8", stdio: "pipe" }).trim();
}
