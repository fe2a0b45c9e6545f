/** The `[vault]` table: with what the tokens of servers are encrypted. */
import * as z from "zod";
import { type Problem, valueAt } from "./problem.ts";
import { secretReference } from "./reference-schema.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";

export const vaultSchema = z
  .strictObject({
    keys: z
      .array(secretReference)
      .min(1)
      .max(16)
      .optional()
      .describe(
        "Keys of at least 32 bytes each: the first encrypts, the others only decrypt what they encrypted before. By default the file `vault.keys` in the state folder, which `isthmus vault rotate` adds to; several processes use what they have in common.",
      ),
    publicUrl: z
      .string()
      .refine((text) => /^https?:\/\/[^/?#]+$/.test(text), {
        error: 'expected a URL such as "https://tools.example.com"',
      })
      .optional()
      .describe(
        "Where browsers reach this gateway: people who let it use a server come back there, and those who approve calls find them there. By default `[auth] resource`, else the address that it listens on.",
      ),
  })
  .describe("Tokens for servers, and the pages at which people allow them.");

export type VaultConfig = { readonly keys: readonly Secret[]; readonly publicUrl?: string | undefined };

const KEY_BYTES = 32;

/** What the table refers to. Problems go to the resolver. */
export function resolveVault(table: unknown, resolverAt: (path: Problem["path"]) => Resolver): readonly Secret[] {
  const path = ["vault", "keys"];
  const listed = valueAt(table, path);
  const resolver = resolverAt(path);
  const found = resolveReferences(Array.isArray(listed) ? { ...listed } : {}, path, resolver);
  for (const [index, key] of Object.entries(found)) {
    if (Buffer.byteLength(key.reveal()) < KEY_BYTES)
      resolver.onProblem([...path, Number(index)], `expected at least ${KEY_BYTES} bytes`);
  }
  return Object.values(found);
}
