import { expect, test } from "vitest";
import { STEPS } from "./index.ts";
import { KNOWN_VERSION } from "./known-version.ts";

test("the version that is known without the steps is the one they lead to", () => {
  expect(STEPS).toHaveLength(KNOWN_VERSION);
});
