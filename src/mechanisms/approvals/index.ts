export { type AnchorConfig, Anchors, PROOF_TYPES } from "./anchors.ts";
export { ApprovalDesk, type PageOrder, type Visit } from "./approval-desk.ts";
export { Approvals, DEFINITION_CHANGED, POLICY_CHANGED } from "./approvals.ts";
export { Decider, type WordProblem } from "./decide.ts";
export { type Decided, decidedText } from "./decided-text.ts";
export { definitionPrint, type FindOffered, isSameDefinition, writtenPrint } from "./definition.ts";
export { type Gate, type GateMode, safetyOf, stricter } from "./gate.ts";
export {
  confirmationRequired,
  confirmUrl,
  deniedText,
  type GateFacts,
  hasOtherApprovers,
  heldText,
  missingApprovers,
  nobodyCanApprove,
  type PageToVisit,
  pageToVisit,
  shownInput,
  toolText,
  waitsBelow,
} from "./gate-object.ts";
export { readPublicKey, sshStrings } from "./key-text.ts";
export { PROOF_TYP } from "./proof.ts";
export { flagSafety } from "./safety-flags.ts";
export { ApprovalWatch, type Waiting } from "./watch.ts";
