/**
 * Runs a page of the guide as a reader would, from top to bottom in a fresh folder:
 *
 * - a block with a file name behind its language is that file (```toml isthmus.toml);
 * - ```sh is run to its end, ```sh background until the next such block or the end of the page, as in another terminal;
 * - ```text after it is what it prints, `…` standing for what differs from run to run.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { curl, parts } from "../../needs/programs.ts";
import { type Block, fitsShown, isCommand, readBlocks } from "../kit/markdown.ts";
import { ROOT } from "../kit/program.ts";
import { OwnNetwork } from "./own-network.ts";

const BLOCK_MS = 30_000;
/** A page may show how the program complains; such a command may end with another code than 0. */
const COMPLAINT = /^(isthmus: |PROBLEM )/m;

export type Command = {
  readonly printed: () => string;
  readonly ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

const groups = new Set<number>();
process.once("exit", () => {
  for (const group of groups) process.kill(-group, "SIGKILL");
});

export class PageRunner implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "isthmus-guide-"));
  readonly #network: OwnNetwork;
  #background: Command | undefined;

  private constructor(network: OwnNetwork) {
    this.#network = network;
    for (const name of ["bin", "home", "work"]) mkdirSync(join(this.#folder, name));
    cpSync(join(ROOT, "examples"), join(this.work, "examples"), { recursive: true });
    // Pages show it, and no other way to make a request.
    this.addProgram("curl", `exec '${pathOf(curl)}' "$@"`);
    const node = `exec '${process.execPath}'`;
    this.addProgram("node", `${node} "$@"`);
    this.addProgram("isthmus", `${node} '${join(ROOT, "dist/isthmus.js")}' "$@"`);
    // In a clone that is installed: the scripts of package.json that pages name.
    const dash = '[ "$1" = -- ] && shift';
    this.addProgram(
      "npm",
      `case "$*" in
install) ;;
start*) shift; ${dash}; exec isthmus up "$@" ;;
"run -s isthmus"*) shift 3; ${dash}; exec isthmus "$@" ;;
*) echo "what is npm $*?"; exit 1 ;;
esac`,
    );
    // Packages that a reader would get from the registry are those of tests/parts.
    const part = `'${pathOf(parts)}/'"$1"/dist/index.js`;
    this.addProgram("npx", `[ "$1" = -y ] && shift\nprogram=${part}\nshift\n${node} "$program" "$@"`);
  }

  static async open(): Promise<PageRunner> {
    return new PageRunner(await OwnNetwork.open());
  }

  /** Where the commands run. */
  get work(): string {
    return join(this.#folder, "work");
  }

  /** A program of that name for the commands of the page, as a shell script. */
  addProgram(name: string, script: string): void {
    const file = join(this.#folder, "bin", name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  async run(page: string): Promise<void> {
    const blocks = readBlocks(page);
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      const shown = next?.language === "text" ? next.text : undefined;
      if (!isCommand(block) && block.note !== "") this.write(block.note, block.text);
      else if (!isCommand(block)) continue;
      else if (block.note === "background") await this.#leaveRunning(block, shown);
      else await this.#runToEnd(block, shown);
    }
  }

  /** A file below the folder of the commands; `~` is their home. */
  write(path: string, text: string): void {
    const file = path.startsWith("~/") ? join(this.#folder, "home", path.slice(2)) : join(this.work, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  async #runToEnd({ text, place }: Block, shown: string | undefined): Promise<void> {
    const command = this.start(["sh", "-c", `{ ${text}\n} 2>&1`]);
    const timer = setTimeout(() => void command.stop(), BLOCK_MS);
    const code = await command.ended;
    clearTimeout(timer);
    const isGood = code === 0 || COMPLAINT.test(shown ?? "");
    if (!isGood) throw new Error(`${place}: ended with ${code}\n${text}\n${command.printed()}`);
    if (shown !== undefined && !fitsShown(shown, command.printed(), "all")) throw mismatch(place, shown, command);
  }

  async #leaveRunning({ text, place }: Block, shown = ""): Promise<void> {
    await this.#background?.stop();
    const command = this.start(["sh", "-c", text]);
    this.#background = command;
    const deadline = performance.now() + BLOCK_MS;
    while (!fitsShown(shown, command.printed(), "beginning")) {
      if (performance.now() > deadline) throw mismatch(place, shown, command);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Its standard output is kept; what goes to standard error is for the person at the terminal. */
  start(command: readonly string[]): Command {
    const [file, ...args] = this.#network.inside(command);
    const env = { PATH: `${join(this.#folder, "bin")}:${process.env.PATH}`, HOME: join(this.#folder, "home") };
    const child = spawn(file, args, { cwd: this.work, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const { pid } = child;
    if (pid !== undefined) groups.add(pid);
    const ended = new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(null));
      child.once("close", (code) => {
        if (pid !== undefined) groups.delete(pid);
        resolve(code);
      });
    });
    const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
      // The whole group: a shell does not hand signals on.
      if (pid !== undefined && groups.has(pid)) process.kill(-pid, signal);
      await ended;
    };
    return { printed: () => printed, ended, stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#background?.stop();
    this.#network.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function mismatch(place: string, shown: string, command: Command): Error {
  return new Error(`${place}: the page shows\n${shown}\nbut it printed\n${command.printed()}`);
}
