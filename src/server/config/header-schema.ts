/** Tables of headers in the config: what is no header is refused where it stands, before anything is to be sent. */
import * as z from "zod";
import { isFramingHeader, isHeaderName, isHeaderValue } from "../../contract/index.ts";
import { reference } from "./reference-schema.ts";
import { type Resolver, resolveReferences, withoutVariables } from "./references.ts";
import type { Secret } from "./secret.ts";
import type { KeyPath } from "./toml-lines.ts";

/** The name of a header that an operator may set. */
export const headerName = z
  .string()
  .refine(isHeaderName, { error: "expected the name of a header: only letters, digits and !#$%&'*+-.^_`|~" })
  .refine((name) => !isFramingHeader(name), { error: "expected a header that the gateway does not set itself" });

/** Values that stand in the file itself are looked at here; what they refer to, when it is known. */
export const headerReferences = z.record(
  headerName,
  reference.refine((value) => typeof value !== "string" || isHeaderText(value), {
    error: "expected a value without line breaks, other control characters and text that is not latin1",
  }),
);

/** Whether what a config, or a client's file, says of a header's value can be one, whatever its variables hold. */
export function isHeaderText(text: string): boolean {
  return isHeaderValue(withoutVariables(text));
}

const BAD_REFERENCE = "what it refers to holds a line break, another control character or text that is not latin1";

/** As `resolveReferences`. A value that is bad only by what it refers to is as one whose variable is not set. */
export function resolveHeaders(table: unknown, path: KeyPath, resolver: Resolver): Record<string, Secret> {
  const resolved = resolveReferences(table, path, resolver);
  for (const [name, secret] of Object.entries(resolved)) {
    const written = (table as Readonly<Record<string, unknown>>)[name];
    // Of that the schema has spoken.
    if (typeof written === "string" && !isHeaderText(written)) continue;
    if (!isHeaderValue(secret.reveal())) resolver.onProblem([...path, name], BAD_REFERENCE);
  }
  return resolved;
}
