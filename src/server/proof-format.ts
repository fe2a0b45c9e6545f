/** What whoever signs proofs must know of them, for the command line. */
export { PROOF_TYP, sshStrings } from "../mechanisms/approvals/index.ts";
