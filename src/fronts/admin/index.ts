export { type AdminFront, createAdminFront } from "./admin-front.ts";
export { describeApi } from "./openapi.ts";
