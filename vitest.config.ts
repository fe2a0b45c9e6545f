import { defineConfig } from "vitest/config";
import { LANES } from "./scripts/lanes.ts";
import { includeRunnable } from "./tests/needs/lane-files.ts";

export default defineConfig({
  test: {
    ...includeRunnable(LANES.check),
    // Two workers: what a small CI machine has. More only adds noise to tests that race a fake clock.
    pool: "forks",
    maxWorkers: 2,
    restoreMocks: true,
    // A test that hangs is a fault; one that is slow on a machine that does other things is none.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
