export { createHomes, type HomeListener, type HomeState, type Homes } from "./homes.ts";
export { createMembership, type OwnMembership } from "./membership.ts";
export { routeCookie } from "./route-cookie.ts";
