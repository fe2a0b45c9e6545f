import type { Socket } from "node:net";
import { connect as connectTcp, isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { connect as connectTls } from "node:tls";
import { readBuffer } from "./read-buffer.ts";

export type TlsOptions = Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized" | "servername">;

export type OpenedSocket = { socket: Socket; openEvent: "connect" | "secureConnect" };

/** Opens a socket and hands over what it reads as latin1 text. */
export type SocketOpener = (reader: TextReader) => OpenedSocket;

const TCP_KEEP_ALIVE_MS = 30_000;

/** Takes what a socket has read, as latin1 text. */
export interface TextReader {
  read(text: string): void;
}

/** Returns a function that opens sockets to `url`. */
export function createSocketOpener(url: URL, tls: TlsOptions = {}): SocketOpener {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);

  return function openSocket(reader) {
    const buffer = readBuffer();
    const options = {
      host,
      port,
      noDelay: true,
      keepAlive: true, // a stream may be silent for hours; without probes a vanished server would never be noticed
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      onread: {
        buffer,
        callback(bytes: number) {
          reader.read(buffer.toString("latin1", 0, bytes));
          return true;
        },
      },
    };
    if (!isTls) return { socket: connectTcp(options), openEvent: "connect" };
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = connectTls({ ...options, ALPNProtocols: ["http/1.1"], ...servername, ...tls });
    return { socket, openEvent: "secureConnect" };
  };
}
