export { mgpError } from "./mgp-error.ts";
export {
  answerMgp,
  isDialectWord,
  MGP_EXTENSIONS,
  type MgpExtension,
  negotiate,
  withoutDialects,
} from "./negotiate.ts";
