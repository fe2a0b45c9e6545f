/**
 * Whoever has a signature of a curve can make another that fits the same text, without any key: (r, s) and (r, n - s). A token
 * so changed is the same token, and whoever is refused with one is refused with the other.
 */
import { bytesOfBase64Url } from "../../contract/index.ts";

/** How many points the curve has, by algorithm. */
const ORDERS: Readonly<Record<string, bigint | undefined>> = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
};

/** The other spelling of a token whose signature is good; undefined: there is none. */
export function twinOf(token: string, algorithm: string): string | undefined {
  const order = ORDERS[algorithm];
  const dot = token.lastIndexOf(".") + 1;
  const signature = order === undefined ? undefined : bytesOfBase64Url(token.slice(dot));
  if (order === undefined || signature === undefined) return undefined;
  const half = signature.length / 2;
  const other = order - BigInt(`0x${signature.toString("hex", half)}`);
  if (other <= 0n) return undefined;
  const bytes = Buffer.concat([
    signature.subarray(0, half),
    Buffer.from(other.toString(16).padStart(half * 2, "0"), "hex"),
  ]);
  return token.slice(0, dot) + bytes.toString("base64url");
}

/** By how long a signature is written. */
const ALGORITHMS: Readonly<Record<number, string | undefined>> = { 86: "ES256", 128: "ES384" };

/**
 * The same for a token and its twin, before anybody has checked either. It takes the whole of a token to get what is made of it:
 * who knows its first parts alone gets something else.
 */
export function oneOfTwins(token: string): string {
  const dot = token.lastIndexOf(".");
  const algorithm = ALGORITHMS[token.length - dot - 1];
  if (algorithm === undefined || token.indexOf(".") === dot) return token;
  const twin = twinOf(token, algorithm);
  return twin !== undefined && twin < token ? twin : token;
}
