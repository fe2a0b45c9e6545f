/**
 * Bundles the program into dist/main.js and puts the launcher dist/isthmus.js before it. Two files, because
 * compiled code can only be kept of what loads after the launcher. CommonJS, because importing Node's
 * `http` as an ES module loads all of its lazy parts, fetch among them: 40 ms of every start.
 */
import "./node24.mjs";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const entry = "src/cli/main.ts";
/** Packages in files of their own, because most starts do without them. */
const BESIDE = ["kysely", "jose", "oauth4webapi", "prom-client", "yaml"];
/** Parts of Node that most starts do without, 5 ms together. The bundle asks for them where they are used. */
const WHEN_USED = ["node:child_process", "node:dns/promises", "node:fs/promises", "node:tls", "node:zlib"];

const shared = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  logLevel: "warning",
  write: false,
  metafile: true,
};

const program = await build({
  ...shared,
  entryPoints: [entry],
  outfile: "dist/main.js",
  // Loaded from node_modules, and only where a config names a store. So is cel-js, by name, where a rule has an expression. These
  // four are the package's dependencies; what is in the bundle is a dependency of its development. Never both: the JavaScript of
  // better-sqlite3 in here would not fit the machine code of a newer one that is installed.
  external: ["better-sqlite3", "pg", "ioredis"],
  plugins: [{ name: "beside", setup: ({ onResolve }) => onResolve({ filter: besideFilter() }, toFileBeside) }],
  sourcemap: "external",
  // As a module it runs; as a script, which has no `require`, it is the function that does. The inner brackets make V8 compile it at once.
  banner: {
    js: "((run) => (typeof require === 'function' ? run(require, __filename) : run))((function (require, __filename) {",
  },
  footer: { js: "}));" },
  supported: { "dynamic-import": false },
  define: { "import.meta.filename": "__filename" },
});
// One file each: the 300 of kysely, as big as a third of the program, took 90 ms to load.
const others = await Promise.all(
  BESIDE.map((name) => build({ ...shared, entryPoints: [name], outfile: `dist/${name}.js` })),
);
const outputFiles = [program, ...others].flatMap(({ outputFiles }) => outputFiles);

// Each file is replaced in one step, because a gateway or a test may be running from dist right now.
await mkdir("dist", { recursive: true });
await put("dist/package.json", '{ "type": "commonjs" }\n');
const files = outputFiles.map(({ path, text }) => ({
  path,
  text: path.endsWith(".js") ? inAscii(loadWhenUsed(text)) : text,
}));
for (const { path, text } of files) await put(path, text);
const launcher = await readFile("scripts/launcher.cjs", "utf8");
await put("dist/isthmus.js", launcher.replace("BUILD_DIGEST", digestOf(files)), 0o755);
// Beside the program, so that a config can name it: `#:schema ./node_modules/isthmus/dist/isthmus.schema.json`.
await put("dist/isthmus.schema.json", await readFile("docs/reference/isthmus.schema.json"));

// What the bundle holds of others comes with their terms.
await put("dist/licenses.txt", await collectLicenses([program, ...others]));

/** The name, version and license of every package of which something is in the bundle. */
async function collectLicenses(builds) {
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean);
  const texts = [...new Set(folders)].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : await readFile(`${folder}/${file}`, "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

function besideFilter() {
  return new RegExp(`^(${BESIDE.join("|")})$`);
}

function toFileBeside({ path }) {
  return { path: `./${path}.js`, external: true };
}

/** `x = require("node:y")`, once for each module that imports it, becomes `(x ??= require("node:y"))` wherever x is used. */
function loadWhenUsed(text) {
  const loads = new RegExp(`^( *(?:var )?)(\\w+) = (.*\\brequire\\("(?:${WHEN_USED.join("|")})"\\).*);$`, "gm");
  const declared = text.replace(loads, (_, start, variable) => `${start}${variable};`);
  return [...text.matchAll(loads)].reduce(
    (all, [, , variable, load]) => all.replaceAll(`${variable}.`, `(${variable} ??= ${load}).`),
    declared,
  );
}

/** Then V8 reads and holds it as one byte a character. esbuild itself leaves comments and regular expressions as they are. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function digestOf(files) {
  const hash = createHash("sha256");
  for (const { text } of files) hash.update(text);
  return hash.digest("hex").slice(0, 32);
}

async function put(path, contents, mode = 0o644) {
  const fresh = `${path}.${process.pid}.tmp`;
  await writeFile(fresh, contents, { mode });
  await rename(fresh, path);
}
