/**
 * TLS 1.3 with a key that both ends have: no certificates, and a fresh key exchange for each connection. An end without the
 * key cannot finish the handshake: the server has no certificate to fall back on, and the client accepts none.
 */
import type { Socket } from "node:net";
import {
  connect,
  createSecureContext,
  createServer,
  type SecureContextOptions,
  type Server,
  type TLSSocket,
} from "node:tls";
import { readBuffer } from "../../providers/mcp/http/read-buffer.ts";

// An external key is bound to a hash; with these both ends always agree on SHA-256.
// No authority is trusted, nor are the usual ones loaded, which would be felt.
const TERMS: SecureContextOptions = { minVersion: "TLSv1.3", ciphers: "TLS_AES_128_GCM_SHA256", ca: [] };
const HANDSHAKE_MS = 5_000;
/** Streams may be silent for hours; a machine that has gone must be noticed all the same. */
const PROBES = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 } as const;
const MAX_IDENTITY = 128;

/** Takes what a socket has read, one character per byte. */
type TextReader = { read(text: string): void };

export type OpenHopSocket = (reader: TextReader) => { socket: Socket; openEvent: "secureConnect" };

/** `identity`: the id of the member that we are. Undefined for an address that is none. */
export function createHopOpener(address: string, key: Buffer, identity: () => string): OpenHopSocket | undefined {
  const target = parseAddress(address);
  if (target === undefined) return undefined;
  const secureContext = createSecureContext(TERMS);
  return function openHopSocket(reader) {
    const buffer = readBuffer();
    const options = {
      secureContext,
      ...PROBES,
      ...target,
      onread: {
        buffer,
        callback(bytes: number) {
          reader.read(buffer.toString("latin1", 0, bytes));
          return true;
        },
      },
      pskCallback: () => ({ psk: key, identity: identity() }),
      rejectUnauthorized: true, // whatever the environment says
      // Asked only about a certificate: then it is not one of us.
      checkServerIdentity: () => new Error("the peer did not prove the cluster's key"),
    };
    return { socket: connect(options), openEvent: "secureConnect" };
  };
}

export type HopServerEvents = {
  /** Somebody has connected, who has not shown the key. */
  readonly onConnection: (socket: Socket) => void;
  readonly onPeer: (socket: TLSSocket) => void;
  /** A connection has ended without having shown the key. */
  readonly onStranger: (cause: Error) => void;
};

export function createHopServer(key: Buffer, { onConnection, onPeer, onStranger }: HopServerEvents): Server {
  const server = createServer(
    {
      ...TERMS,
      ...PROBES,
      allowHalfOpen: true,
      handshakeTimeout: HANDSHAKE_MS,
      pskCallback: (_socket, identity) => (identity.length <= MAX_IDENTITY ? key : null),
    },
    onPeer,
  );
  server.on("connection", onConnection);
  server.on("tlsClientError", (cause, socket) => {
    socket.destroy();
    onStranger(cause);
  });
  return server;
}

/** "host:port", where a host with colons stands in brackets. */
function parseAddress(address: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined || Number(port) > 65_535) return undefined;
  return { host: bracketed ?? plain ?? "", port: Number(port) };
}
