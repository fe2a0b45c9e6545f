import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ["chaos/**/*.test.ts"],
    // Whole processes that die and leases that must run out: a few at a time, most of which wait.
    fileParallelism: false,
    maxConcurrency: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
