import { randomUUID, sign } from "node:crypto";
import { PROOF_TYP } from "../../server/proof-format.ts";
import type { JsonObject } from "../json.ts";
import { type OperatorKey, operatorName } from "./operator-key.ts";

/** How long a proof may be brought. */
const VALID_S = 300;

/** A yes or no to this one call at this one gateway, as a compact JWS. `approval`: as the gateway shows it. */
export function signProof({ key }: OperatorKey, approval: JsonObject, decision: "approve" | "deny"): string {
  const iat = Math.floor(Date.now() / 1000);
  const { confirmation_id, nonce, tool, args_sha256, gate_aggregator_id } = approval;
  const header = { alg: "EdDSA", typ: PROOF_TYP };
  const claims = {
    sub: operatorName(),
    aud: `urn:uuid:${String(gate_aggregator_id)}`,
    jti: randomUUID(),
    iat,
    exp: iat + VALID_S,
    confirmation_id,
    nonce,
    tool,
    args_sha256,
    decision,
  };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign(null, Buffer.from(text), key).toString("base64url")}`;
}
