#!/usr/bin/env node
// dist/isthmus.js, as `npm run build` copies it. Plain enough to load on any Node, so that an old one gets a sentence and
// not a syntax error.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `isthmus needs Node 22.12 or newer, this is ${process.versions.node}: install a newer one (https://nodejs.org), then start it again\n`,
  );
  process.exit(1);
}

const fs = require("node:fs");
const { join } = require("node:path");

const MAIN = join(__dirname, "main.js");
/** Tells this main.js from every other; the build puts it here. */
const BUILD = "BUILD_DIGEST";
/** By then the first calls have been made, and nothing of the start has been thrown away yet. */
const KEEP_AFTER_MS = 3000;
/** By how much longer code must be to replace what is kept. */
const WORTH_MORE = 1.02;
const DIGEST_BYTES = 32;

const { enableCompileCache, getCompileCacheDir } = require("node:module");
enableCompileCache();
// One for each version of Node and its flags; undefined where nothing can be written, or somebody has switched it off.
const directory = getCompileCacheDir();
const verb = process.argv[2];
// One tick is kept: every read of a socket calls `process.nextTick`, which fills in its object by the shape that it saw
// first. If a full collection finds no tick alive, as while many servers start, that shape is gone, and from then on V8
// fills in each tick the slow way: 0.6 us of every call in a profile.
process.nextTick(() => {
  exports.tick = require("node:async_hooks").executionAsyncResource();
});
if (directory && (verb === "up" || verb === "stdio")) runWithKeptCode(join(directory, `isthmus-${verb}-${BUILD}`));
else require(MAIN);

// Without pretenuring: while many servers start, the objects of requests live long, and V8 would from then on make all such
// objects old ones; with 200 servers nearly every object of a call then survived until the next full collection. Not
// while code is loaded or kept: compiled code is good for the flags it was made with.
setTimeout(() => {
  setFlag("--no-allocation-site-pretenuring");
  process.once("exit", () => setFlag("--allocation-site-pretenuring"));
}, 100).unref();

function setFlag(flag) {
  require("node:v8").setFlagsFromString(flag);
}

/**
 * Runs main.js with the code that an earlier process compiled. Node's own cache has only what is compiled while a file
 * loads; this has also what is compiled when it is first called: a quarter of the time until a gateway serves.
 */
function runWithKeptCode(file) {
  const { Script } = require("node:vm");
  const cachedData = readOwn(file);
  // The build has made it ASCII.
  const script = new Script(fs.readFileSync(MAIN, "latin1"), { filename: MAIN, cachedData });
  script.runInThisContext()(require, MAIN);
  const isUsed = cachedData !== undefined && !script.cachedDataRejected;
  const keep = () => {
    clearTimeout(timer);
    process.removeListener("exit", keepAtExit);
    setFlag("--allocation-site-pretenuring");
    const code = script.createCachedData();
    setFlag("--no-allocation-site-pretenuring");
    // What was kept may come from a start with other kinds of servers; this has all of that, and what was missing.
    if (!isUsed || code.length > cachedData.length * WORTH_MORE) replace(file, code);
  };
  const timer = setTimeout(keep, KEEP_AFTER_MS).unref();
  // Whoever serves listens for SIGTERM. A help text or a broken config has compiled little that is worth keeping. Where there
  // is something already, what was compiled in a whole life would make every start longer: 14 ms, when it was all of it.
  const keepAtExit = (code) => !isUsed && code === 0 && process.listenerCount("SIGTERM") > 0 && keep();
  process.on("exit", keepAtExit);
}

/**
 * Code is run as it is. The folder may be one that everybody can write to, so only a file of our own counts; and V8 ends the
 * process over damaged code, so the file begins with a digest.
 */
function readOwn(file) {
  try {
    const handle = fs.openSync(file, "r");
    try {
      const isOwn = process.getuid === undefined || fs.fstatSync(handle).uid === process.getuid();
      const bytes = isOwn ? fs.readFileSync(handle) : Buffer.alloc(0);
      const code = bytes.subarray(DIGEST_BYTES);
      return digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
    } finally {
      fs.closeSync(handle);
    }
  } catch (_) {
    return undefined;
  }
}

function digestOf(code) {
  return require("node:crypto").createHash("sha256").update(code).digest();
}

/** In one step, because another process may be reading it. */
function replace(file, code) {
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    fs.writeFileSync(fresh, Buffer.concat([digestOf(code), code]), { mode: 0o600, flag: "wx" });
    fs.renameSync(fresh, file);
  } catch (_) {
    // The next start is no faster than this one.
  }
}
