/**
 * How a gateway and whoever runs it show each other that they know the operator's token, without sending it: what listens on
 * the gateway's port may be anybody. What the gateway proves is for its port, and what the operator proves for the address at which
 * that is reached: nobody at another one can have either made there.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** How long a proof of the operator's is good, and how long it is remembered that it was shown. */
export const OPERATOR_PROOF_MS = 60_000;
/** Of a nonce as base64url. */
export const NONCE = /^[\w-]{22,64}$/;

export const OPERATOR_PROOF_PATH = "/api/operator/proof";

const CREDENTIALS = /^Isthmus-Operator +(\d{1,15})\.([\w-]{22,64})\.([\w-]{43})$/i;
const NONCE_BYTES = 16;

/** What the operator asks for. */
export type OperatorRequest = {
  /** Where the gateway was reached. */
  readonly address: string;
  readonly port: number;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Of the body: the header of RFC 9530. */
  readonly digest: string;
};

export function makeNonce(): string {
  return randomBytes(NONCE_BYTES).toString("base64url");
}

/** By which whoever listens on this port shows that it knows the token. */
export function gatewayProof(token: string, port: number, nonce: string): string {
  return proofOf(token, ["gateway", port, nonce]);
}

/** The header `Authorization`. */
export function operatorCredentials(token: string, request: OperatorRequest, now: number): string {
  const nonce = makeNonce();
  return `Isthmus-Operator ${now}.${nonce}.${requestProof(token, request, String(now), nonce)}`;
}

/** Undefined: it is none for this request. Whether it was shown before is not looked at. */
export function readOperatorCredentials(
  text: string,
  token: string,
  request: OperatorRequest,
): { readonly time: number; readonly nonce: string } | undefined {
  const [, time = "", nonce = "", proof = ""] = CREDENTIALS.exec(text) ?? [];
  if (!isSameProof(proof, requestProof(token, request, time, nonce))) return undefined;
  return { time: Number(time), nonce };
}

export function isSameProof(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The header `Content-Digest` of RFC 9530. `encoding`: latin1 where the text has one character per byte. */
export function contentDigest(text: string, encoding: "utf8" | "latin1"): string {
  return `sha-256=:${createHash("sha256").update(text, encoding).digest("base64")}:`;
}

function requestProof(token: string, request: OperatorRequest, time: string, nonce: string) {
  const { address, port, method, url, digest } = request;
  return proofOf(token, ["operator", plainAddress(address), port, method, url, digest, time, nonce]);
}

/** The same for both ends, also where one of them has IPv4 as a part of IPv6. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function proofOf(token: string, parts: readonly (string | number)[]): string {
  return createHmac("sha256", token).update(JSON.stringify(parts)).digest("base64url");
}
