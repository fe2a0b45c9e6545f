export { type Cluster, createCluster } from "./cluster.ts";
export { type GatewayState, openState, StateFault } from "./open-state.ts";
