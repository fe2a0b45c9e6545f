import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ["e2e/**/*.test.ts", "relay/**/*.test.ts", "hostile/**/*.test.ts", "eras/**/*.test.ts"],
    // Whole processes and sockets: one file at a time, so that a timeout means a fault and not a busy machine.
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: true,
  },
});
