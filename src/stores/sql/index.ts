export { SqlBlobRows } from "./blob-rows.ts";
export { SqlDeliveryRows } from "./delivery-rows.ts";
export type { SqlEngine } from "./sql-engine.ts";
export { SqlTaskRows } from "./task-rows.ts";
