export type { TokenCommands } from "./approval-page.ts";
export { type ApprovalsFront, createApprovalsFront } from "./approvals-front.ts";
export { SignIn } from "./sign-in.ts";
