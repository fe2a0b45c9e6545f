/** As much of Redis' protocol as the bench speaks: commands without arguments, and the lines that come back. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface, type Interface } from "node:readline";

const ANSWER_LIMIT_MS = 2_000;

export class RedisWire {
  readonly #socket: Socket;
  readonly #lines: Interface;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#lines = createInterface({ input: socket });
    // Its end shows in an answer that does not come.
    socket.on("error", () => {});
    this.#lines.on("error", () => {});
  }

  static async connect(port: number): Promise<RedisWire> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RedisWire(socket);
  }

  /** Resolves when Redis has answered; rejects when it says no, or nothing. */
  async ask(command: string): Promise<void> {
    const answered = once(this.#lines, "line", { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    this.#socket.write(`${command}\r\n`);
    const [line] = (await answered) as [string];
    if (!line.startsWith("+")) throw new Error(`redis answered "${line}"`);
  }

  onLine(listener: (line: string) => void): void {
    this.#lines.on("line", listener);
  }

  close(): void {
    this.#lines.close();
    this.#socket.destroy();
  }
}
