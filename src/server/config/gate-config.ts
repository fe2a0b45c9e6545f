/** The `[gate]` table: which calls wait for somebody to say yes, and whose yes counts. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import * as z from "zod";
import { EVIDENCE, type Evidence } from "../../contract/index.ts";
import { type AnchorConfig, type GateMode, PROOF_TYPES, readPublicKey } from "../../mechanisms/approvals/index.ts";
import { durationMs } from "./amounts.ts";
import { type AuthConfig, isAuthOn } from "./auth-config.ts";
import type { Problem } from "./problem.ts";

const anchorSchema = z.lazy(() =>
  z
    .strictObject({
      type: z
        .enum(PROOF_TYPES)
        .default("operator_signature")
        .describe("Who signs: a person's key, a policy engine's, or that of a service which people approve in."),
      key: z
        .string()
        .optional()
        .describe("The public key: a line `ssh-ed25519 …`, PEM, or a JWK as text. Ed25519 or P-256."),
      file: z
        .string()
        .optional()
        .describe("Instead of `key`: the file that holds it, read whenever a proof comes. `~/` is the home folder."),
      issuer: z.string().optional().describe("What `iss` of its proofs must be. Unset: anything."),
      holders: z
        .array(z.string())
        .default([])
        .describe("Who has the private key, as users or clients of the gateway: it cannot approve what they ask for."),
      tenants: z.array(z.string()).default([]).describe("Whose calls it may approve. Empty: everybody's."),
    })
    .describe("A key whose signature counts as a yes."),
);

export const gateSchema = z
  .strictObject({
    mode: z
      .enum(["declared", "strict", "open"])
      .default("declared")
      .describe(
        "`declared`: a call waits when its tool says that it does what cannot be taken back. `strict`: also when it says nothing. `open`: tools are flagged, and calls wait only where a rule says so.",
      ),
    evidence: z
      .enum(EVIDENCE)
      .exclude(["none"])
      .optional()
      .describe(
        "Whose yes such a call needs at least: the user's before the client (`session_user`), that of an operator whom the gateway knows by a credential (`operator`), or a signature by one of the anchors (`external_proof`). Unset: `external_proof` where there are anchors, else `operator`.",
      ),
    hold: durationMs
      .prefault("45s")
      .describe("How long a caller is kept waiting before it is told to come back. Clients give up after 60 s."),
    expiry: durationMs.prefault("300s").describe("How long an approval stays open."),
    denial: durationMs
      .prefault("300s")
      .describe(
        "How long a no holds: the same call of the same caller is refused without asking anybody again. `0s`: not at all.",
      ),
    ask: z
      .enum(["url", "never"])
      .default("url")
      .describe(
        "Whether clients that can show their users a page are asked to open the one on which the call is decided (URL elicitation). `never`: they are only kept waiting. The page is there in any case, and `confirm_url` names it.",
      ),
    anchors: z.array(anchorSchema).max(64).default([]),
  })
  .describe("Approvals of calls that cannot be taken back.");

export type GateConfig = {
  readonly mode: GateMode;
  readonly evidence: Evidence;
  readonly holdMs: number;
  readonly expiryMs: number;
  readonly denialMs: number;
  readonly ask: "url" | "never";
  readonly anchors: readonly AnchorConfig[];
};

/** `folder`: where relative files start. */
export function shapeGate(table: z.infer<typeof gateSchema>, folder: string): GateConfig {
  const { mode, ask, hold, expiry, denial, anchors } = table;
  const { evidence = anchors.length > 0 ? "external_proof" : "operator" } = table;
  const shaped = anchors.map((anchor) => ({
    ...anchor,
    file: anchor.file === undefined ? undefined : fileOf(anchor.file, folder),
  }));
  return { mode, evidence, ask, holdMs: hold, expiryMs: expiry, denialMs: denial, anchors: shaped };
}

/** Whether anybody can give this evidence. `hasLocalOperator`: whoever runs the gateway is known, though nobody else is asked. */
export function hasApprovers(
  { gate, auth }: { readonly gate: GateConfig; readonly auth: AuthConfig },
  evidence: Evidence,
  hasLocalOperator: boolean,
): boolean {
  if (gate.anchors.length > 0 || evidence === "session_user" || evidence === "none") return true;
  const knowsOperators = isAuthOn(auth)
    ? auth.tokens || auth.issuers.length > 0 || auth.mtls !== undefined
    : hasLocalOperator;
  return evidence === "operator" && knowsOperators;
}

function fileOf(named: string, folder: string): string {
  return named.startsWith("~/") ? resolve(homedir(), named.slice(2)) : resolve(folder, named);
}

/** What the schema cannot say. */
export function checkGate({ anchors }: z.infer<typeof gateSchema>): Problem[] {
  return anchors.flatMap(({ key, file }, index): Problem[] => {
    const path = ["gate", "anchors", index];
    if ((key === undefined) === (file === undefined)) return [{ path, text: "expected either `key` or `file`" }];
    if (key === undefined) return [];
    try {
      readPublicKey(key);
      return [];
    } catch (error) {
      return [{ path: [...path, "key"], text: (error as Error).message }];
    }
  });
}
