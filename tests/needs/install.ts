/**
 * `npm run needs [-- LANE…]`: brings what the tests of these lanes (of all, without a name) need of the machine. Root of
 * a Debian machine gets the packages installed; anybody else is told in one line which to install. Ends with 1 only
 * where something that should have worked did not.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { LANES, type Lane } from "../../scripts/lanes.ts";
import { listLaneFiles } from "./lane-files.ts";
import { describeMissing, missingOf, type Need, packagesOf } from "./need.ts";
import { wantsOfFile } from "./needs-of-file.ts";

const lanes: Readonly<Record<string, Lane>> = LANES;
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => lanes[name] === undefined);
if (unknown.length > 0)
  throw new Error(`no such lane: ${unknown.join(", ")}; there are ${Object.keys(lanes).join(", ")}`);
const files = (wanted.length > 0 ? wanted : Object.keys(lanes)).flatMap((name) => listLaneFiles(lanes[name] as Lane));
const needs = [...new Set(files.flatMap(wantsOfFile))];

installPackages();
for (const need of missingOf(needs)) make(need);
const missing = missingOf(needs);
if (missing.length > 0) say(`Tests are left out that ${describeMissing(missing).replace(/^needs/, "need")}.`);

function installPackages(): void {
  const packages = packagesOf(missingOf(needs));
  if (packages.length === 0) return;
  const hasApt = spawnSync("apt-get", ["--version"]).status === 0;
  if (process.getuid?.() !== 0 || !hasApt) {
    say(
      `To run all tests, install what is missing:\n  sudo apt-get install --no-install-recommends ${packages.join(" ")}`,
    );
    return;
  }
  // Packages would start servers of their own; runlevel 1 tells their scripts not to.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const lock = ["-o", "DPkg::Lock::Timeout=120"];
  say(`apt-get install ${packages.join(" ")}`);
  attempt(() => {
    execFileSync("apt-get", [...lock, "update", "-qq"], { stdio: ["ignore", "ignore", "inherit"], env });
    const install = [...lock, "install", "-y", "-qq", "--no-install-recommends", ...packages];
    execFileSync("apt-get", install, { stdio: ["ignore", "ignore", "inherit"], env });
  });
}

/** Only what is not in a package: that is installed already, or cannot be. */
function make(need: Need): void {
  if (need.make !== undefined) attempt(() => need.make?.());
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.exitCode = 1;
    say(String(error));
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
