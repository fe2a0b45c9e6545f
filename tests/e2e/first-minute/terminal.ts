/** Terminals of 80 columns in which a test types and reads like a person, held by a tmux of its own. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { pathOf } from "../../needs/need.ts";
import { tmux } from "../../needs/programs.ts";
import { descendants, waitForEnd } from "../kit/processes.ts";

const POLL_MS = 50;
const PROMPT = "$";

export type DeskOptions = {
  /** Where the socket and what the terminals have shown are kept. */
  readonly folder: string;
  /** Where the shells start. */
  readonly work: string;
  readonly env: Readonly<Record<string, string>>;
};

/** A tmux and its windows; nothing of it is left when it is disposed. */
export class Desk implements AsyncDisposable {
  readonly #options: DeskOptions;
  #isClosed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
    // A test run that is interrupted leaves no terminals behind either.
    process.once("exit", () => {
      if (!this.#isClosed && existsSync(this.#socket)) this.tmux("kill-server");
    });
  }

  /** A new window with a shell that waits for a command. */
  async openTerminal(name: string): Promise<Terminal> {
    const { work, folder, env } = this.#options;
    const isFirst = !existsSync(this.#socket);
    const size = isFirst ? ["-x", "80", "-y", "24"] : [];
    const verb = isFirst ? ["new-session", "-d", "-s", "desk"] : ["new-window", "-t", "desk"];
    const shell = ["env", "-i", ...Object.entries(env).map(([key, value]) => `${key}=${value}`), "sh"];
    // Its own arguments only: what the developer has in ~/.tmux.conf is not the newcomer's.
    this.tmux("-f", "/dev/null", ...verb, ...size, "-n", name, "-c", work, ...shell);
    const seen = join(folder, `${name}.seen`);
    this.tmux("pipe-pane", "-t", `desk:${name}`, `cat >'${seen}'`);
    const terminal = new Terminal((...args) => this.tmux(...args), `desk:${name}`, seen);
    await terminal.waitForPrompt();
    return terminal;
  }

  tmux(...args: string[]): string {
    return execFileSync(pathOf(tmux), ["-u", "-S", this.#socket, ...args], {
      encoding: "utf8",
      env: this.#options.env,
    });
  }

  get #socket(): string {
    return join(this.#options.folder, "tmux");
  }

  /** Ends every terminal. Resolves with the processes that survive it. */
  async close(): Promise<number[]> {
    if (this.#isClosed || !existsSync(this.#socket)) return [];
    this.#isClosed = true;
    const server = Number(this.tmux("display-message", "-p", "#{pid}"));
    const all = [server, ...descendants(server)];
    this.tmux("kill-server");
    return waitForEnd(all, 15_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of await this.close().catch(() => [])) process.kill(pid, "SIGKILL");
  }
}

export class Terminal {
  readonly #tmux: (...args: string[]) => string;
  readonly #window: string;
  readonly #seen: string;

  constructor(tmux: (...args: string[]) => string, window: string, seen: string) {
    this.#tmux = tmux;
    this.#window = window;
    this.#seen = seen;
  }

  /** Types a command into a terminal that shows nothing else any more. */
  type(command: string): void {
    this.#tmux("send-keys", "-t", this.#window, "-R");
    this.#tmux("clear-history", "-t", this.#window);
    this.#tmux("send-keys", "-t", this.#window, "-l", command);
    this.press("Enter");
  }

  press(key: string): void {
    this.#tmux("send-keys", "-t", this.#window, key);
  }

  /** Runs a command to its end. Resolves with what it has shown. */
  async run(command: string): Promise<string> {
    this.type(command);
    const screen = await this.waitForPrompt(command);
    return screen.split("\n").slice(1, -1).join("\n");
  }

  /** Resolves with what has come below `before`, which is what the terminal showed, once `text` is there. */
  async waitFor(text: string, before = "", timeoutMs = 120_000): Promise<string> {
    const isThere = (screen: string) => screen.startsWith(before) && screen.includes(text, before.length);
    return (await this.#waitUntil(isThere, JSON.stringify(text), timeoutMs)).slice(before.length);
  }

  async waitForPrompt(after = "", timeoutMs = 60_000): Promise<string> {
    const hasEnded = (screen: string) => screen.startsWith(after) && screen.slice(after.length).endsWith(PROMPT);
    return this.#waitUntil((screen) => hasEnded(screen), "the prompt", timeoutMs);
  }

  async #waitUntil(isThere: (screen: string) => boolean, what: string, timeoutMs: number): Promise<string> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const screen = this.screen();
      if (isThere(screen)) return screen;
      if (performance.now() > deadline) throw new Error(`${what} did not come. The terminal shows:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** What can be read here, with what has left the screen at the top. A line that did not fit is one long line. */
  screen(): string {
    const text = this.#tmux("capture-pane", "-p", "-J", "-t", this.#window, "-S", "-");
    return text.replaceAll(/ +$/gm, "").trimEnd();
  }

  /** Waits for text that may be overwritten at once. `from` counts characters of `seen`. */
  async waitUntilSeen(text: string, from: number): Promise<void> {
    await this.#waitUntil(() => this.seen().includes(text, from), JSON.stringify(text), 60_000);
  }

  /** Everything that was ever shown here, also what was overwritten, as plain lines. */
  seen(): string {
    return stripVTControlCharacters(readFileSync(this.#seen, "utf8")).replaceAll("\r", "");
  }
}
