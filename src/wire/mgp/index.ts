export { mgpError } from "./mgp-error.ts";
export { answerMgp, MGP_EXTENSIONS, type MgpExtension, negotiate, withoutMgp } from "./negotiate.ts";
