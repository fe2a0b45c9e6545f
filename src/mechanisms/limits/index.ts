export { HeldChargeBook } from "./held-charges.ts";
export { LimitBook } from "./limit-book.ts";
export type { LimitEntry } from "./limit-entry.ts";
export type { LimitCharges, LimitPlan } from "./limit-plan.ts";
export type { Limitable } from "./limited-target.ts";
export { LocalShare } from "./local-share.ts";
export { SharedDesk } from "./shared-desk.ts";
export { TenantLimits } from "./tenant-limits.ts";
