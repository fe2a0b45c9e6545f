export { type ApprovalsFront, createApprovalsFront } from "./approvals-front.ts";
