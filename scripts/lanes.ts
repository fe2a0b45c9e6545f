/** The lanes of `npm test` and `npm run test:long`: what each runs, from which its needs are known. */
import { LONG_CONTRACT } from "../tests/contract/long.ts";
import { LONG } from "../tests/e2e/long.ts";

export type Lane = {
  /** Test files, or the program that is the lane. Globs from the root. */
  readonly files: readonly string[];
  readonly except?: readonly string[];
  /** The script is part of `npm run test:long` instead of `npm test`. */
  readonly isLong?: true;
  /** `first`: before all others, which then are two rows: the lanes `beside` and the rest, each in their order. */
  readonly turn?: "first" | "beside";
};

const CONTRACT = ["src/**/*.contract.test.ts", "tests/contract/**/*.test.ts"];

const UNIT: Lane = {
  files: [
    "src/**/*.test.ts",
    "scripts/**/*.test.ts",
    "tests/conformance/*.test.ts",
    "tests/needs/*.test.ts",
    "tests/requirements/*.test.ts",
    "tests/structure/*.test.ts",
  ],
  // Beside what it tests, but with a real Redis, PostgreSQL or nginx.
  except: ["src/**/*.contract.test.ts"],
  // Keeps two cores busy by itself.
  turn: "first",
};

/** In the order in which they run. */
export const LANES = {
  check: UNIT,
  contract: { files: CONTRACT, except: Object.keys(LONG_CONTRACT), turn: "beside" },
  e2e: { files: ["tests/e2e/**/*.test.ts"], except: Object.keys(LONG) },
  relay: { files: ["tests/{relay,hostile,eras}/**/*.test.ts"], except: Object.keys(LONG), turn: "beside" },
  browser: { files: ["tests/browser/**/*.test.ts"], turn: "beside" },
  conformance: { files: ["tests/conformance/run.ts"], turn: "beside" },
  requirements: { files: ["tests/requirements/check.ts"] },
  // Half of the suite's time, nearly all of it spent waiting.
  "conformance:auth": { files: ["tests/conformance/run.ts"], isLong: true },
  "contract:long": { files: Object.keys(LONG_CONTRACT), isLong: true },
  "e2e:long": { files: Object.keys(LONG), isLong: true },
  attacks: { files: ["tests/attacks/**/*.test.ts"], isLong: true },
  "chaos:sessions": { files: ["tests/chaos/sessions.ts"], isLong: true },
  "chaos:governed": { files: ["tests/chaos/sessions.ts", "tests/chaos/stores.ts"], isLong: true },
  "chaos:stores": { files: ["tests/chaos/stores.ts"], isLong: true },
  "chaos:kills": { files: ["tests/chaos/kills/*.test.ts"], isLong: true },
} as const satisfies Record<string, Lane>;

export type LaneName = keyof typeof LANES;
