/** The server of `tests/e2e/cli` as a package that npx fetches. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ODD } from "../cli/workspace.ts";
import { ROOT } from "../kit/program.ts";
import type { Company, Fetched } from "./company.ts";
import type { Files } from "./company-network.ts";

const PACKAGE = "company-notes";
const VERSION = "1.0.0";
const BIN = { [PACKAGE]: "start.mjs" };

const PATH = `/${PACKAGE}`;

export const NPX: Fetched = { command: "npx", args: ["-y", PACKAGE], pack, path: PATH };

/** What a user of the company has in the environment. */
export function npxEnvironment({ network, workspace }: Company) {
  return {
    npm_config_registry: network.registryUrl,
    npm_config_cache: workspace.path("npm-cache"),
    // A machine may have a certificate authority of its own there, which npm would take instead.
    npm_config_globalconfig: workspace.path("no-npmrc"),
    HTTPS_PROXY: network.proxyUrl,
    NODE_EXTRA_CA_CERTS: network.authority,
  };
}

/** As a registry has it. */
function pack(folder: string, registryUrl: string): Files {
  const content = join(folder, "pack", "package");
  mkdirSync(content, { recursive: true });
  const manifest = { name: PACKAGE, version: VERSION, type: "module", bin: BIN };
  writeFileSync(join(content, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(content, "start.mjs"), '#!/usr/bin/env node\nimport "./server.mjs";\n', { mode: 0o755 });
  copyFileSync(join(ROOT, ODD), join(content, "server.mjs"));
  execFileSync("tar", ["czf", join(folder, "package.tgz"), "-C", join(folder, "pack"), "package"]);
  const tarball = readFileSync(join(folder, "package.tgz"));
  const path = `/${PACKAGE}/-/${PACKAGE}-${VERSION}.tgz`;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: new URL(path, registryUrl).href, integrity };
  const versions = { [VERSION]: { name: PACKAGE, version: VERSION, bin: BIN, dist } };
  const described = { name: PACKAGE, "dist-tags": { latest: VERSION }, versions };
  return { [PATH]: JSON.stringify(described), [path]: tarball };
}
