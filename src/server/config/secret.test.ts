import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret } from "./secret.ts";

test("a secret shows itself in no printed form", () => {
  const secret = new Secret("hunter2");
  const printed = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }),
    Object.values(secret).join(),
  ];
  expect(printed.join("\n")).not.toContain("hunter2");
  expect(printed.slice(0, 2)).toEqual(["[secret]", "[secret]"]);
  expect(secret.reveal()).toBe("hunter2");
});
