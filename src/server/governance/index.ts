export type { CalledAs } from "./called-as.ts";
export { type Authenticator, createGovernance } from "./governance.ts";
export { lostTask } from "./lost-answers.ts";
export { runAlone } from "./run-alone.ts";
