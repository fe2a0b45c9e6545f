import { defineConfig } from "vitest/config";
import { LANES } from "../../scripts/lanes.ts";
import { includeRunnable } from "../needs/lane-files.ts";

export default defineConfig(({ mode }) => ({
  test: {
    root: `${import.meta.dirname}/../..`,
    // `--mode long` is the lane e2e:long, `--mode relay` the lane relay.
    ...includeRunnable(mode === "long" ? LANES["e2e:long"] : mode === "relay" ? LANES.relay : LANES.e2e),
    // Whole processes and sockets: one file at a time, so that a timeout means a fault and not a busy machine.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
}));
