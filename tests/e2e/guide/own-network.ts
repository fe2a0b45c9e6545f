/**
 * A loopback of its own for the commands of a page, so that they run as they stand there, port 7411 included, whatever
 * else runs on the machine. Where the system does not give one (no root, no Linux), the machine's own must do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { pathOf } from "../../needs/need.ts";
import { ip } from "../../needs/programs.ts";

export class OwnNetwork {
  readonly #holder: ChildProcess | undefined;

  private constructor(holder: ChildProcess | undefined) {
    this.#holder = holder;
  }

  static async open(): Promise<OwnNetwork> {
    const script = `exec unshare --net sh -c '${pathOf(ip)} link set lo up && echo ready && exec cat'`;
    const holder = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
    const isReady = await new Promise<boolean>((resolve) => {
      holder.stdout.once("data", () => resolve(true));
      holder.once("error", () => resolve(false));
      holder.once("exit", () => resolve(false));
    });
    return new OwnNetwork(isReady ? holder : undefined);
  }

  /** The command that runs this one in here. */
  inside(command: readonly string[]): readonly [string, ...string[]] {
    const [file = "", ...args] = command;
    return this.#holder ? ["nsenter", `--net=/proc/${this.#holder.pid}/ns/net`, file, ...args] : [file, ...args];
  }

  close(): void {
    this.#holder?.stdin?.end();
  }
}
