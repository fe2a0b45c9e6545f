export { planSteps, presentVersion, STEPS, versionTable } from "./plan.ts";
export type { EngineName, Step } from "./step.ts";
export type { BlobTable, DeliveryTable, Tables, TaskTable } from "./tables.ts";
