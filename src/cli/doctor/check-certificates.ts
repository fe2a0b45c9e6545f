/** The file of authorities that Node is told to trust besides its own. Where it cannot be used, Node says so in passing, if at all. */
import { readFileSync } from "node:fs";
import type { Environment } from "../../server/config/index.ts";
import { type Finding, warning } from "./finding.ts";

/** Nothing where no file is named, or all is well with it. */
export function checkCertificates({ NODE_EXTRA_CA_CERTS: file }: Environment): Finding[] {
  const why = file ? faultOf(file) : undefined;
  if (why === undefined) return [];
  return [
    warning(
      "certificates",
      `NODE_EXTRA_CA_CERTS names ${file}, which ${why}: Node goes on without it`,
      "name a PEM file that the gateway may read, or unset it; servers that the gateway starts are given the same name",
    ),
  ];
}

function faultOf(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1").includes("-----BEGIN ") ? undefined : "holds no certificate";
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}
