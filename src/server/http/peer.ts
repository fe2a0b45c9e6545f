import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpPeer } from "../../contract/index.ts";

/** Whose connection it is, as far as the connection itself tells. */
export function peerOf(socket: Socket): HttpPeer {
  const { remoteAddress: address = "", localAddress, localPort: port } = socket;
  const isOpen = localAddress !== undefined && port !== undefined;
  const peer = isOpen ? { address, reached: { address: localAddress, port } } : { address };
  const certificate = isSecure(socket) ? certificateOf(socket) : undefined;
  return certificate ? { ...peer, certificate } : peer;
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
