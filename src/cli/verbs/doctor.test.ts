import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { checkNode } from "./doctor.ts";

test.each([
  ["22.12.0", "ok"],
  ["22.21.1", "ok"],
  ["24.0.0", "ok"],
  ["22.9.0", "problem"],
  ["20.20.2", "problem"],
  ["9.0.0", "problem"],
])("checkNode finds %s %s", (version, level) => {
  expect(checkNode(version)).toMatchObject({ level });
});

test("checkNode names what package.json demands", () => {
  expect(packageJson.engines.node).toBe(">=22.12");
  expect(checkNode("20.0.0")).toMatchObject({ advice: "install Node 22.12 or newer" });
});
