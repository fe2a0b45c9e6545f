export { createEgress, type Egress, type EgressAnswer } from "./egress.ts";
export { EgressFault } from "./egress-fault.ts";
export type { Trust } from "./find-address.ts";
