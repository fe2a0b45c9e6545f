/** The `[gateway.tls]` table: what the gateway shows to clients, and whose certificates it accepts of them. */
import { createSecureContext } from "node:tls";
import * as z from "zod";
import { type Problem, valueAt } from "./problem.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";

export const tlsSchema = z
  .strictObject({
    cert: z
      .string()
      .min(1)
      .describe("The file of the certificate with its chain, in PEM. Relative to the config file."),
    key: z.string().min(1).describe("The file of its private key, in PEM."),
    clientCa: z
      .string()
      .min(1)
      .optional()
      .describe("The file of the authority whose client certificates are accepted, in PEM; `[auth.mtls]` reads them."),
  })
  .describe("HTTPS. A file that changes is taken over while the gateway runs.");

export type TlsConfig = { readonly cert: Secret; readonly key: Secret; readonly clientCa?: Secret };

const PATH = ["gateway", "tls"];

/** Reads the files. Undefined without the table, or where something is missing: that has been said. */
export function resolveTls(table: unknown, resolver: Resolver): TlsConfig | undefined {
  const files = ["cert", "key", "clientCa"].flatMap((name) => {
    const fromFile = valueAt(table, [...PATH, name]);
    return typeof fromFile === "string" && fromFile !== "" ? [[name, { fromFile }]] : [];
  });
  const { cert, key, clientCa } = resolveReferences(Object.fromEntries(files), PATH, resolver);
  return cert && key && { cert, key, ...(clientCa && { clientCa }) };
}

export function checkTls(tls: TlsConfig | undefined): Problem[] {
  if (!tls) return [];
  const { cert, key, clientCa } = tls;
  try {
    createSecureContext({ cert: cert.reveal(), key: key.reveal(), ...(clientCa && { ca: clientCa.reveal() }) });
    return [];
  } catch (error) {
    const { code = "not PEM" } = error as NodeJS.ErrnoException;
    return [{ path: PATH, text: `the certificate and the key cannot be used together (${code})` }];
  }
}
