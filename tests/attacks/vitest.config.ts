import { defineConfig } from "vitest/config";
import { LANES } from "../../scripts/lanes.ts";
import { includeRunnable } from "../needs/lane-files.ts";

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    ...includeRunnable(LANES.attacks),
    globalSetup: "tests/attacks/kit/shared-postgres.ts",
    // Whole processes and sockets: one file at a time, so that a timeout means a fault and not a busy machine.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
