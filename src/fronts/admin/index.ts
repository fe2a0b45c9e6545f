export { type AdminFront, createAdminFront } from "./admin-front.ts";
export { describeApi } from "./openapi.ts";
export { answerProblem, problemOf } from "./problem.ts";
