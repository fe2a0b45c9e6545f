export { type Authenticator, createGovernance } from "./governance.ts";
export { runAlone } from "./run-alone.ts";
