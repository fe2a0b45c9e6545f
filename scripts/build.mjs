/**
 * Bundles the program into dist/main.js and puts the launcher dist/isthmus.js before it. Two files, because
 * Node's compile cache only serves modules that load after it was switched on. CommonJS, because importing Node's
 * `http` as an ES module loads all of its lazy parts, fetch among them: 40 ms of every start.
 */
import "./node24.mjs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const entry = "src/cli/main.ts";

// Without pretenuring: while many servers start, the objects of requests live long, and V8 would from then on make all such
// objects old ones; with 200 servers nearly every object of a call then survived until the next full collection. Not
// while code is loaded or cached: compiled code is good for the flags it was made with.
// One tick is kept: every read of a socket calls `process.nextTick`, which fills in its object by the shape that it saw
// first. If a full collection finds no tick alive, as while many servers start, that shape is gone, and from then on V8
// fills in each tick the slow way: 0.6 µs of every call in a profile.
// Plain enough to load on any Node, so that an old one gets a sentence and not a syntax error.
const launcher = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < 22) {
  process.stderr.write("isthmus needs Node 22 or newer, this is " + process.versions.node + "\\n");
  process.exit(1);
}
require("node:module").enableCompileCache();
process.nextTick(() => {
  exports.tick = require("node:async_hooks").executionAsyncResource();
});
require("./main.js");
setTimeout(() => {
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--no-allocation-site-pretenuring");
  process.once("exit", () => setFlagsFromString("--allocation-site-pretenuring"));
}, 100).unref();
`;

const { outputFiles } = await build({
  entryPoints: [entry],
  outfile: "dist/main.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  sourcemap: "external",
  logLevel: "warning",
  write: false,
});

// Each file is replaced in one step, because a gateway or a test may be running from dist right now.
await mkdir("dist", { recursive: true });
await put("dist/package.json", '{ "type": "commonjs" }\n');
for (const { path, contents } of outputFiles) await put(path, contents);
await put("dist/isthmus.js", launcher, 0o755);
// Beside the program, so that a config can name it: `#:schema ./node_modules/isthmus/dist/isthmus.schema.json`.
await put("dist/isthmus.schema.json", await readFile("docs/reference/isthmus.schema.json"));

async function put(path, contents, mode = 0o644) {
  const fresh = `${path}.${process.pid}.tmp`;
  await writeFile(fresh, contents, { mode });
  await rename(fresh, path);
}
