/** A folder with a config, in which verbs run one after the other and a gateway serves. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program, ROOT } from "../kit/program.ts";

/** Known before the gateway listens: tokens may be for its address. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export class Workspace implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-identity-"));
  #gateway: Program | undefined;

  constructor(config: string) {
    this.write("isthmus.toml", config);
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text);
    return join(this.folder, name);
  }

  /** Runs a verb to its end. */
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [join(ROOT, "dist/isthmus.js"), ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? "", HOME: this.folder, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (text) => {
      stdout += text;
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      child.once("close", (code) => resolve({ code, stdout, stderr }));
    });
  }

  /** The token alone. */
  async createToken(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, code } = await this.run(["token", "create", ...args]);
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  /** Resolves when every server has listed. */
  async up(listen: string, env: Readonly<Record<string, string>> = {}, openFiles?: number): Promise<string> {
    const config = ["--config", join(this.folder, "isthmus.toml")];
    this.#gateway = new Program(["up", "--listen", listen, "--json", ...config], { env, openFiles });
    const [line] = await this.#gateway.output(/^\{.*\}\n/m);
    return new URL(JSON.parse(line).url).origin;
  }

  /** As the machine would: nothing is said, nothing is finished. */
  async kill(): Promise<void> {
    await this.#gateway?.stop("SIGKILL");
  }

  /** What the gateway has written so far. */
  get log(): string {
    return `${this.#gateway?.stderr}${this.#gateway?.stdout}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
