/** A proof: a compact JWS in which an authority outside the caller says yes or no to one call at one gateway. */
import { verify } from "node:crypto";
import { type Approval, bytesOfBase64Url, refuseRepeatedKeys, textOf } from "../../contract/index.ts";
import type { Anchor } from "./anchors.ts";
import { membersOf } from "./capability.ts";

export const PROOF_TYP = "mcpax-proof+jwt";

const MAX_PROOF = 8192;
const MAX_NAME = 256;
/** How far the clock of an authority may be ahead of ours. */
const SKEW_S = 30;
/** No authority says yes for longer than this. */
const LONGEST_S = 3600;

export type ProofCheck = {
  readonly jws: string;
  readonly approval: Approval;
  readonly decision: "approve" | "deny";
  readonly anchors: readonly Anchor[];
  /** Who we are. */
  readonly gateway: string;
  /** Everybody's clock, in ms. */
  readonly now: number;
};

/** Who has said it; or why it does not count. */
export type Proved =
  | { readonly by: string; readonly jti: string; readonly thumbprint: string }
  | { readonly refused: string };

export function checkProof({ jws, approval, decision, anchors, gateway, now }: ProofCheck): Proved {
  const parts = jws.split(".");
  if (jws.length > MAX_PROOF || parts.length !== 3) return { refused: "malformed" };
  const [head = "", body = "", signature = ""] = parts;
  const header = decoded(head);
  const claims = decoded(body);
  const signed = signature === "" ? undefined : bytesOfBase64Url(signature);
  if (!header || !claims || !signed) return { refused: "malformed" };
  const wrongHeader = headerProblem(header);
  if (wrongHeader) return { refused: wrongHeader };
  const anchor = anchors.find((one) => isSignedBy(one, header, `${head}.${body}`, signed));
  if (!anchor) return { refused: "unknown_trust_anchor" };
  const problem =
    claimProblem(claims, { approval, decision, gateway }) ??
    timeProblem(claims, now / 1000) ??
    (anchor.issuer !== undefined && claims.iss !== anchor.issuer ? "wrong_issuer" : undefined) ??
    ownProblem(anchor, claims, approval);
  if (problem) return { refused: problem };
  return { by: String(claims.sub), jti: String(claims.jti), thumbprint: anchor.trusted.thumbprint };
}

/** Keys that come with the proof, and rules we do not know, would let it decide how it is checked. */
function headerProblem(header: Readonly<Record<string, unknown>>): string | undefined {
  if (header.alg !== "EdDSA" && header.alg !== "ES256") return "algorithm_not_allowed";
  if (header.typ !== PROOF_TYP) return "wrong_type";
  const foreign = ["crit", "jwk", "jku", "x5c", "x5u", "b64", "zip"].some((name) => name in header);
  return foreign ? "header_not_allowed" : undefined;
}

function isSignedBy(
  { trusted }: Anchor,
  { alg, kid }: Readonly<Record<string, unknown>>,
  text: string,
  signature: Buffer,
): boolean {
  if (alg !== trusted.alg || (kid !== undefined && kid !== trusted.thumbprint)) return false;
  const data = Buffer.from(text, "latin1");
  if (alg === "EdDSA") return verify(null, data, trusted.key, signature);
  return verify("sha256", data, { key: trusted.key, dsaEncoding: "ieee-p1363" }, signature);
}

type Expected = Pick<ProofCheck, "approval" | "decision" | "gateway">;

function claimProblem(
  claims: Readonly<Record<string, unknown>>,
  { approval, decision, gateway }: Expected,
): string | undefined {
  for (const name of ["sub", "jti"]) {
    const value = claims[name];
    if (typeof value !== "string" || value === "" || value.length > MAX_NAME) return `missing_${name}`;
  }
  const { aud } = claims;
  const audience = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (audience !== `urn:uuid:${gateway}`) return "wrong_audience";
  if (claims.confirmation_id !== approval.id) return "wrong_confirmation";
  if (claims.nonce !== approval.nonce) return "wrong_nonce";
  if (claims.tool !== approval.tool) return "wrong_tool";
  if (claims.args_sha256 !== approval.digest) return "wrong_arguments";
  return claims.decision === decision ? undefined : "wrong_decision";
}

function timeProblem({ iat, exp, nbf }: Readonly<Record<string, unknown>>, now: number): string | undefined {
  if (!isTime(iat) || !isTime(exp) || (nbf !== undefined && !isTime(nbf))) return "missing_time";
  if (exp <= now) return "proof_expired";
  if (Math.max(iat, nbf ?? iat) > now + SKEW_S) return "not_yet_valid";
  return exp - iat > LONGEST_S ? "valid_too_long" : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

/** Nobody approves what they ask for themselves, whatever keys they have. */
function ownProblem(
  { holders, trusted }: Anchor,
  { sub, iss }: Readonly<Record<string, unknown>>,
  approval: Approval,
): string | undefined {
  const own = [approval.principal, approval.user, approval.client].filter((name) => name !== "");
  if (own.includes(trusted.thumbprint) || holders.some((holder) => own.includes(holder))) return "own_key";
  const said = [sub, iss, typeof sub === "string" ? sub.replace(/^\w+:/, "") : undefined];
  return said.some((name) => typeof name === "string" && own.includes(name)) ? "own_principal" : undefined;
}

function decoded(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = bytesOfBase64Url(part);
  if (!bytes) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    refuseRepeatedKeys(textOf(text));
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? membersOf(value) : undefined;
  } catch {
    return undefined;
  }
}
