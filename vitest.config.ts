import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "scripts/**/*.test.ts",
      "tests/conformance/*.test.ts",
      "tests/requirements/*.test.ts",
      "tests/structure/*.test.ts",
    ],
    // Two workers: what a small CI machine has. More only adds noise to tests that race a fake clock.
    pool: "forks",
    maxWorkers: 2,
    restoreMocks: true,
  },
});
