/**
 * Servers while they start: on a terminal one line each that changes in place, elsewhere a line for each change. On a
 * terminal, whatever else is written meanwhile must go through `write`, so that it lands above.
 */
import type { ServerSummary } from "../../server/gateway-types.ts";
import { cut, plainLine } from "./plain.ts";

export type ProgressOptions = {
  readonly write: (text: string) => void;
  /** Undefined: no terminal. */
  readonly terminal: { readonly columns: number; readonly rows: number } | undefined;
  /** In ms, from the start. */
  readonly now: () => number;
};

const MIN_ROOM = 4;

export class StartProgress {
  readonly #options: ProgressOptions;
  readonly #told = new Map<string, string>();
  #drawn: readonly string[] = [];

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  update(servers: readonly ServerSummary[]): void {
    if (this.#options.terminal) this.#draw(this.#lines(servers, this.#options.terminal));
    else this.tellChanges(servers);
  }

  /** One line for each server that is not any more as it was told last; a start is no news. */
  tellChanges(servers: readonly ServerSummary[]): void {
    for (const server of servers) {
      const text = stateText(server);
      const before = this.#told.get(server.id);
      this.#told.set(server.id, text);
      if (server.status !== "starting" && before !== text) this.#options.write(`${plainLine(server.id)}: ${text}\n`);
    }
  }

  /** Text of others, above the lines that change. */
  write(text: string): void {
    const lines = this.#drawn;
    this.end();
    this.#options.write(text);
    this.#draw(lines);
  }

  /** Takes away what was drawn. */
  end(): void {
    if (this.#drawn.length > 0) this.#options.write(`\u001b[${this.#drawn.length}A\r\u001b[J`);
    this.#drawn = [];
  }

  #draw(lines: readonly string[]): void {
    this.end();
    if (lines.length > 0) this.#options.write(`${lines.join("\n")}\n`);
    this.#drawn = lines;
  }

  #lines(servers: readonly ServerSummary[], { columns, rows }: { columns: number; rows: number }): string[] {
    const seconds = Math.floor(this.#options.now() / 1000);
    const starting = servers.filter(({ status }) => status === "starting");
    if (servers.length > rows - MIN_ROOM) {
      const count = `${servers.length - starting.length} of ${servers.length} servers`;
      return [cut(`  ${count}, waiting for ${starting.map(({ id }) => plainLine(id)).join(", ")}`, columns - 1)];
    }
    const width = Math.max(0, ...servers.map(({ id }) => plainLine(id).length));
    return servers.map((server) => {
      const state = server.status === "starting" ? `starting … ${seconds} s` : stateText(server);
      return cut(`  ${plainLine(server.id).padEnd(width)}  ${state}`, columns - 1);
    });
  }
}

function stateText({ status, tools, message }: ServerSummary): string {
  if (status === "ok") return `ok, ${tools} ${tools === 1 ? "tool" : "tools"}`;
  return message === undefined ? status : `${status}, ${plainLine(message)}`;
}
