/** Says yes or no to a call in the way that counts: by signature, or by the word of an operator. */

import { Ending } from "../ending.ts";
import type { JsonObject } from "../json.ts";
import { PROGRAM } from "../program-name.ts";
import { type GatewayApi, UntrustedKey } from "./gateway-api.ts";
import type { OperatorKey } from "./operator-key.ts";

export type DecideOrder = {
  readonly api: GatewayApi;
  readonly approval: JsonObject;
  readonly decision: "approve" | "deny";
  /** Undefined: there is none. */
  readonly key: OperatorKey | undefined;
  /** Somebody has said that this key is to be used. */
  readonly isKeyChosen: boolean;
};

/** What has become of the call, as the gateway says it. Throws Ending. */
export async function decideCall({ api, approval, decision, key, isKeyChosen }: DecideOrder): Promise<JsonObject> {
  const needsProof = decision === "approve" && approval.evidence === "external_proof";
  if (!key && needsProof) throw new Ending("failure", NEEDS_PROOF);
  if (!key) return await api.decide(approval, decision);
  try {
    return await api.confirm(key, approval, decision);
  } catch (error) {
    if (!(error instanceof UntrustedKey) || isKeyChosen || needsProof) throw error;
    return await api.decide(approval, decision);
  }
}

const NEEDS_PROOF = [
  `this call needs a signature, and you have no key: "${PROGRAM} operator init" makes one and prints the lines`,
  "for the gateway's isthmus.toml; or write evidence = \"operator\" under [gate], and an operator's token is enough",
];
