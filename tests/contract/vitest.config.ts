import { defineConfig } from "vitest/config";
import { LANES } from "../../scripts/lanes.ts";
import { includeRunnable } from "../needs/lane-files.ts";

export default defineConfig(({ mode }) => ({
  test: {
    root: `${import.meta.dirname}/../..`,
    // `--mode long` is the lane contract:long.
    ...includeRunnable(mode === "long" ? LANES["contract:long"] : LANES.contract),
    // Real servers: one file at a time, so that a timeout means a fault and not a busy machine.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
}));
