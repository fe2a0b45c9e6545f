import { defineConfig } from "vitest/config";
import { LANES } from "../../scripts/lanes.ts";
import { includeRunnable } from "../needs/lane-files.ts";

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    ...includeRunnable(LANES["chaos:kills"]),
    // Whole processes that die and leases that must run out: a few at a time, most of which wait.
    fileParallelism: false,
    maxConcurrency: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
