/**
 * Bundles the program into dist/main.js and puts the launcher dist/isthmus.js before it. Two files, because
 * Node's compile cache only serves modules that load after it was switched on.
 */
import "./node24.mjs";
import { existsSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const entry = "src/cli/main.ts";

// Bundled CommonJS packages ask for Node's own modules with `require`, which an ES module does not have.
const requireShim = [
  'import { createRequire as __createRequire } from "node:module";',
  "const require = __createRequire(import.meta.url);",
].join("\n");

// Plain enough to load on any Node, so that an old one gets a sentence and not a syntax error.
const launcher = `#!/usr/bin/env node
import module from "node:module";
if (Number.parseInt(process.versions.node) < 22) {
  process.stderr.write("isthmus needs Node 22 or newer, this is " + process.versions.node + "\\n");
  process.exit(1);
}
module.enableCompileCache();
await import("./main.js");
`;

if (!existsSync(entry)) {
  process.stdout.write(`nothing to build yet: ${entry} is missing\n`);
  process.exit(0);
}

await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: [entry],
  outfile: "dist/main.js",
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node22",
  sourcemap: "external",
  banner: { js: requireShim },
  logLevel: "warning",
});
await writeFile("dist/isthmus.js", launcher);
await chmod("dist/isthmus.js", 0o755);
