/** One `[[auth.revocationFeeds]]` table: a machine that may take back what others have. */
import { createPublicKey } from "node:crypto";
import * as z from "zod";
import { DEFAULT_TENANT } from "../../contract/index.ts";

export const revocationFeedSchema = z.lazy(() =>
  z
    .strictObject({
      id: z.string().min(1).max(64).describe("Its name on the audit trail."),
      keys: z
        .array(z.string().refine(isUsable, { error: "expected an Ed25519 or P-256 public key in PEM" }))
        .min(1)
        .describe("Its public keys in PEM, Ed25519 or P-256. What one of them signed is taken."),
      tenants: z
        .array(z.string().min(1))
        .min(1)
        .default([DEFAULT_TENANT])
        .describe("The tenants whose callers it may revoke; `*`: all."),
      audience: z.string().min(1).optional().describe("What must stand in `aud` of what it signs."),
    })
    .describe("A machine that may revoke callers and tokens by signed messages to `POST /api/revocations/signed`."),
);

export type RevocationFeedConfig = Readonly<z.output<typeof revocationFeedSchema>>;

function isUsable(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
    if (pem.includes("PRIVATE")) return false;
    return asymmetricKeyType === "ed25519" || asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
}
