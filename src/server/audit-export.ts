/** For the command line: exported trails are checked without a gateway. */
export { verifyLines } from "../mechanisms/audit/index.ts";
