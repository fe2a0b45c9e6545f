/** What the operator's command line asks before it shows anything of itself. */
import * as z from "zod";
import { GatewayError, NONCE, OPERATOR_PROOF_PATH, type Operation } from "../../contract/index.ts";
import { operation, schemaOf } from "../schemas/index.ts";
import type { LocalOperator } from "./local-operator.ts";

/** `operator`: undefined where nobody is known by such a token. `asks`: whether others on this machine are asked who they are. */
export function operatorOperations(operator: LocalOperator | undefined, asks: boolean): readonly Operation[] {
  return [
    operation({
      id: "operator.prove",
      method: "GET",
      path: OPERATOR_PROOF_PATH,
      summary: "Shows that this gateway knows the operator's token, without the token.",
      // Whoever asks has shown nothing yet, on purpose.
      role: "anyone",
      input: schemaOf(z.strictObject({ nonce: z.string().regex(NONCE).describe("Random: 22 to 64 of base64url.") })),
      output: schemaOf(
        z.strictObject({
          proof: z
            .string()
            .describe('HMAC-SHA256, keyed with the token, of `["gateway",<port>,<nonce>]`, as base64url.'),
          asks: z.boolean().describe("Whether whoever is on this machine is asked who they are."),
        }),
      ),
      run: async ({ nonce }) => {
        const proof = operator?.prove(nonce);
        if (proof === undefined)
          throw new GatewayError("NO_SUCH_TARGET", { message: "This gateway knows no operator's token." });
        return { body: { proof, asks } };
      },
    }),
  ];
}
