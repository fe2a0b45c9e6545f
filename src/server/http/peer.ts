import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpPeer } from "../../contract/index.ts";

/** Whose connection it is, as far as the connection itself tells. */
export function peerOf(socket: Socket): HttpPeer {
  const address = socket.remoteAddress ?? "";
  if (!isSecure(socket)) return { address };
  const certificate = certificateOf(socket);
  return certificate ? { address, certificate } : { address };
}

function isSecure(socket: Socket): socket is TLSSocket {
  return "encrypted" in socket;
}

function certificateOf(socket: TLSSocket): HttpPeer["certificate"] {
  const { subject, subjectaltname, fingerprint256, valid_to } = socket.getPeerCertificate();
  // Without a certificate the object is there, and empty.
  if (fingerprint256 === undefined) return undefined;
  return {
    isTrusted: socket.authorized,
    subject: { ...subject },
    alternativeNames: subjectaltname ?? "",
    fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(),
    expiresAt: Date.parse(valid_to),
  };
}
