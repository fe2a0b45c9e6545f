export { createHop, type OpenHop } from "./hop.ts";
export { agreeOnKey } from "./hop-key.ts";
