import { describe, expect, test } from "vitest";
import { LANES } from "../../scripts/lanes.ts";
import { LONG } from "../e2e/long.ts";
import { hasPath, readText } from "../structure/repo-files.ts";
import { listLaneFiles, sortLaneFiles } from "./lane-files.ts";
import { describeMissing, missingOf, type Need, packagesOf, pathOf } from "./need.ts";
import { needsOfFile, wantsOfFile } from "./needs-of-file.ts";
import * as programs from "./programs.ts";

// Not imported by name, which would make them needs of this file.
const { initdb, nginx, openssl, postgres, python3, pythonSdk, redisServer } = programs;

const absent = (name: string, more: Partial<Need> = {}): Need => ({
  name,
  aptPackages: [`${name}-package`],
  find: () => undefined,
  ...more,
});

describe("what a test file needs", () => {
  test("is what it imports, directly or through its kit", () => {
    expect(needsOfFile("src/server/http/tls.test.ts")).toEqual([openssl]);
    expect(needsOfFile("src/stores/redis/redis-link.contract.test.ts")).toEqual([redisServer]);
    expect(needsOfFile("tests/chaos/sessions.ts")).toEqual(
      expect.arrayContaining([nginx, postgres, redisServer, initdb]),
    );
    expect(needsOfFile("tests/structure/size.test.ts")).toEqual([]);
    // Of suite.ts, which needs tests/parts, it imports types only.
    expect(needsOfFile("tests/conformance/judge.test.ts")).toEqual([]);
  });

  test("is not what it imports only while it runs: that is wanted, and it runs without", () => {
    const suite = "tests/attacks/tenants.test.ts";
    expect(needsOfFile(suite)).toEqual([]);
    expect(wantsOfFile(suite)).toEqual(expect.arrayContaining([redisServer, postgres, initdb]));
    const { runnable, skipped, partial } = sortLaneFiles({ files: [suite] }, (needs) =>
      needs.filter((need) => need === redisServer),
    );
    expect({ runnable, skipped }).toEqual({ runnable: [suite], skipped: [] });
    expect(partial).toEqual([{ file: suite, missing: [redisServer] }]);
  });

  test("leaves out the files that lack something, and says what", () => {
    const lane = { files: ["src/server/http/*.test.ts"] };
    const { runnable, skipped } = sortLaneFiles(lane, (needs) => needs.filter((need) => need === openssl));
    expect(skipped).toEqual([{ file: "src/server/http/tls.test.ts", missing: [openssl] }]);
    expect(runnable).toContain("src/server/http/muted.test.ts");
    expect(runnable).not.toContain("src/server/http/tls.test.ts");
  });
});

describe("what is missing", () => {
  test("is named with its package", () => {
    const missing = missingOf([absent("a"), absent("b"), absent("c", { find: () => "/bin/c" })]);
    expect(describeMissing(missing)).toBe("needs a, b (apt-get install a-package b-package)");
    expect(() => pathOf(absent("a"))).toThrow("needs a (apt-get install a-package)");
  });

  test("is the base of what is made of it", () => {
    const base = absent("base");
    const made = absent("made", { aptPackages: [], madeOf: [base] });
    expect(missingOf([made, base])).toEqual([base]);
    expect(missingOf([absent("made", { madeOf: [absent("base", { find: () => "/base" })] })])).toHaveLength(1);
    expect(pythonSdk.madeOf).toEqual([python3]);
    expect(packagesOf([initdb, postgres])).toEqual(["postgresql"]);
  });
});

test("unit tests need no Redis, PostgreSQL or nginx", () => {
  const servers: readonly Need[] = [redisServer, initdb, postgres, nginx];
  const wrong = listLaneFiles(LANES.check).filter((file) => needsOfFile(file).some((need) => servers.includes(need)));
  expect(wrong, "name it *.contract.test.ts, or move it to tests/e2e").toEqual([]);
});

test("every test file is in exactly one lane", () => {
  const lanes = Object.values(LANES).map(listLaneFiles);
  const files = listLaneFiles({ files: ["{src,scripts,tests}/**/*.test.ts"] });
  expect(files.filter((file) => lanes.filter((lane) => lane.includes(file)).length !== 1)).toEqual([]);
});

test("the list of long files names only files that are there", () => {
  expect(Object.keys(LONG).filter((file) => !hasPath(file))).toEqual([]);
});

/** Files, or folders of them, that have such words, and why they may. */
const INSTALLING: Readonly<Record<string, string>> = {
  "tests/needs/install.ts": "is the step",
  "tests/needs/programs.ts": "tells the step how",
  "tests/needs/need.ts": "says what somebody else is to type",
  "tests/needs/needs.test.ts": "looks for it",
  "tests/structure/commands.test.ts": "looks for it on pages",
  "tests/e2e/package/": "installs the package itself, into a folder of the test",
  "tests/e2e/first-minute/first-minute.test.ts": "types what a newcomer types first, in a clone of the test",
  "tests/e2e/company-network/": "installs a package of the test from a registry of the test, into a folder of the test",
};

const MANAGER = "apt(?:-get)?|aptitude|apk|dnf|brew|npm|pnpm|yarn|pip3?|uv";
/** As one text, or as words in quotes; between a manager and what it is to do there may be options. */
const INSTALLS = [
  new RegExp(
    `\\b(?:${MANAGER})\\b["'\`]?,?\\s*\\[?\\s*(?:["'\`]?-[\\w:-]+(?:[= ][^\\s"'\`]+)?["'\`]?,?\\s+)*["'\`]?(?:install|i|ci|add|update)\\b`,
  ),
  /(?:["'`]|&& |; )npx(?:["'`],\s*\[?\s*["'`]|\s+)(?:-y|--yes)\b/,
  /"(?:apt-get|pip3?)",|\["(?:ci|install)"|"-m", "pip"/,
];
const hasInstall = (code: string) => INSTALLS.some((pattern) => pattern.test(code));

test.each([
  'spawnSync("npm", ["install", "x"])',
  'execSync("npm ci --prefix x")',
  'run("npm", "--prefix", folder, ["install"])',
  'spawn("npx", ["-y", "x"])',
  "run(`cd x && npx --yes x`)",
  'execFileSync("sh", ["-c", "apt-get install -y x"])',
  'execSync("sudo apt-get -o DPkg::Lock::Timeout=9 -y install x")',
  'spawn(python, ["-m", "pip", "install"])',
  "execSync(`pip3 install --quiet x`)",
  'spawn("uv", ["add", "x"])',
])("%s installs", (code) => {
  expect(hasInstall(code)).toBe(true);
});

test.each([
  'run("npm", ["run", "-s", "build"])',
  'type("npm start")',
  'command: "npx"',
  'expect(text).toBe("npx: no")',
])("%s installs nothing", (code) => {
  expect(hasInstall(code)).toBe(false);
});

test("only the install step installs", () => {
  const files = listLaneFiles({ files: ["{src,scripts,tests}/**/*.ts"] });
  const installs = files.filter((file) =>
    hasInstall(readText(file).replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*$)/gm, "")),
  );
  const told = Object.keys(INSTALLING);
  expect(installs.filter((file) => !told.some((place) => file.startsWith(place)))).toEqual([]);
  expect(installs).toContain("tests/needs/install.ts");
});
