/** Requests whose last byte never comes, and whole ones whose answers nobody waits for. */
import { connect, type Socket } from "node:net";

export type Poured = {
  readonly path: string;
  readonly bytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isChunked?: boolean;
  /** What it begins with, and that it is sent as a whole; unset: it is not, and says nothing. */
  readonly message?: { readonly before: string; readonly after: string };
};

const PIECE = "z".repeat(64 * 1024);

export class Pouring implements Disposable {
  readonly #sockets = new Set<Socket>();
  /** The first words that came back on each connection. */
  readonly heard: string[] = [];

  /** Resolves when all of it is on its way, or when the gateway has hung up. */
  pour(origin: string, poured: Poured): Promise<void> {
    const { hostname: host, port } = new URL(origin);
    const socket = connect({ host, port: Number(port) });
    this.#sockets.add(socket);
    let isFirst = true;
    socket.setEncoding("latin1").on("data", (text: string) => {
      if (isFirst) this.heard.push(text);
      isFirst = false;
    });
    return new Promise((resolve) => {
      socket.on("error", () => resolve()).on("close", () => resolve());
      socket.on("connect", () => {
        socket.write(headOf(host, poured));
        this.#write(socket, [...piecesOf(poured)], poured.isChunked === true, resolve);
      });
    });
  }

  #write(socket: Socket, pieces: string[], isChunked: boolean, done: () => void): void {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      const text = isChunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece;
      if (socket.write(text, "latin1") || pieces.length === 0) continue;
      socket.once("drain", () => this.#write(socket, pieces, isChunked, done));
      return;
    }
    done();
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

function headOf(host: string, { path, bytes, headers = {}, isChunked = false }: Poured): string {
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
  const lines = Object.entries({
    Accept: "application/json, text/event-stream",
    "Content-Type": "application/json",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines.join("")}${framing}\r\n\r\n`;
}

/** One byte less than was said, where nothing is to be said with it. */
function* piecesOf({ bytes, message }: Poured): Iterable<string> {
  const { before, after } = message ?? { before: "", after: "" };
  if (before !== "") yield before;
  let left = message ? bytes - before.length - after.length : bytes - 1;
  for (; left > 0; left -= PIECE.length) yield PIECE.slice(0, left);
  if (after !== "") yield after;
}
