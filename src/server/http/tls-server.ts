/** HTTPS: the same connections, with a handshake before them. */
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket, type TlsOptions } from "node:tls";
import { Handshakes } from "./handshakes.ts";

/** Texts in PEM. */
export type TlsTerms = {
  readonly cert: string;
  readonly key: string;
  /** Whose client certificates are trusted; unset: clients are not asked for any. */
  readonly clientCa?: string;
};

const HANDSHAKE_MS = 10_000;

export class TlsServer {
  readonly server: Server;
  /** Also of those who have not come through the handshake. */
  readonly #sockets = new Set<Socket>();

  /** `maxHandshakes`: so many at a time; beyond that the oldest is broken off, of the network that has most. */
  constructor(
    terms: TlsTerms,
    { maxHandshakes, ...options }: TlsOptions & { readonly maxHandshakes: number },
    onSocket: (socket: TLSSocket) => void,
  ) {
    const handshakes = new Handshakes(maxHandshakes);
    const settings = {
      ...options,
      ...secureContext(terms),
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: HANDSHAKE_MS,
      requestCert: terms.clientCa !== undefined,
      // Whoever shows none may have a token; one that is not trusted is refused where the request is.
      rejectUnauthorized: false,
    };
    this.server = createServer(settings, (socket) => {
      handshakes.end(socket);
      onSocket(socket);
    });
    this.server.on("tlsClientError", (_cause, socket) => socket.destroy());
    this.server.on("connection", (socket) => {
      handshakes.add(socket);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** For connections that come from now on. */
  renew(terms: TlsTerms): void {
    this.server.setSecureContext(secureContext(terms));
  }

  /** Breaks off everything, handshakes as well. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

function secureContext({ cert, key, clientCa }: TlsTerms): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: "TLSv1.2",
    // With a ticket, a certificate would be believed that is not shown again.
    ...(clientCa !== undefined && { ca: clientCa, secureOptions: constants.SSL_OP_NO_TICKET }),
  };
}
