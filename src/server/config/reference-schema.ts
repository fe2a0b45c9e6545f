/** Values that stand elsewhere. What reads them is in `references.ts`. */
import * as z from "zod";

const ENV = z.strictObject({ fromEnv: z.string() });
const FILE = z.strictObject({ fromFile: z.string() });

/** A value that may stand in the file itself, too. */
export const reference = z.union([z.string(), ENV, FILE], {
  error: 'expected a string, { fromEnv = "NAME" } or { fromFile = "path" }',
});

/** A secret: it has no place in the file. */
export const secretReference = z.union([ENV, FILE], {
  error: 'expected { fromEnv = "NAME" } or { fromFile = "path" }',
});
