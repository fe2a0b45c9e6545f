/**
 * Bundles the program into dist/main.js and puts the launcher dist/isthmus.js before it. Two files, because
 * Node's compile cache only serves modules that load after it was switched on. CommonJS, because importing Node's
 * `http` as an ES module loads all of its lazy parts, fetch among them: 40 ms of every start.
 */
import "./node24.mjs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const entry = "src/cli/main.ts";

// Plain enough to load on any Node, so that an old one gets a sentence and not a syntax error.
const launcher = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < 22) {
  process.stderr.write("isthmus needs Node 22 or newer, this is " + process.versions.node + "\\n");
  process.exit(1);
}
require("node:module").enableCompileCache();
require("./main.js");
`;

await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: [entry],
  outfile: "dist/main.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  sourcemap: "external",
  logLevel: "warning",
});
await writeFile("dist/package.json", '{ "type": "commonjs" }\n');
await writeFile("dist/isthmus.js", launcher);
await chmod("dist/isthmus.js", 0o755);
