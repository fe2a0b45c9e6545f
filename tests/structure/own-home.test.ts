/** What tests start leaves nothing in the home of whoever runs them. */
import { describe, expect, test } from "vitest";
import { listFiles, readText } from "./repo-files.ts";

const FILES = ["tests", "bench"]
  .flatMap((folder) => listFiles(folder, ".ts"))
  .filter((path) => path !== "tests/structure/own-home.test.ts");

/** Who gives programs the environment as it is, and why that may be. */
const AS_IT_IS: Readonly<Record<string, string>> = {
  "tests/kit/own-home.ts": "puts another home into it",
  "tests/needs/install.ts": "starts apt",
  "tests/e2e/deploy/dockerfile.test.ts": "starts npm; the image names the home of its gateway",
  "bench/prepare.ts": "starts apt",
  "bench/processes.ts": "starts what is compared; the gateway gets a home in bench/candidates/isthmus.ts",
};

const STARTS = /\b(spawn|spawnSync|execFile|execFileSync|fork|launch)\(|promisify\(execFile\)/;
const OUR_PROGRAM = /dist\/isthmus\.js|\bPROGRAM\b.*gateways\.ts/;
const OTHER_HOME = /\bHOME: |\bownEnvironment\(/;

describe("the home of whoever runs the tests", () => {
  test("is given to no program but those of the table", () => {
    const found = FILES.filter((path) => readText(path).includes("...process.env"));
    expect(found.sort()).toEqual(Object.keys(AS_IT_IS).sort());
  });

  test.each(FILES.filter((path) => OUR_PROGRAM.test(readText(path)) && STARTS.test(readText(path))))(
    "is not that of the gateways that %s starts",
    (path) => {
      expect(readText(path)).toMatch(OTHER_HOME);
    },
  );
});
