/** For the command line: exported trails are checked without a gateway. */
export { trailLines, verifyLines } from "../mechanisms/audit/index.ts";
