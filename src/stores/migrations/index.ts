export { planSteps, presentVersion, STEPS, versionTable } from "./plan.ts";
export type { EngineName, Step } from "./step.ts";
export type {
  ApprovalTable,
  BlobTable,
  BlockTable,
  DeliveryTable,
  PolicyTable,
  Tables,
  TaskTable,
  TokenTable,
  UpstreamTokenTable,
} from "./tables.ts";
