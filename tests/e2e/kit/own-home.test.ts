import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Fleet } from "../../chaos/gateways.ts";
import { ownHome } from "../../kit/own-home.ts";
import { operatorToken } from "./operator.ts";

test("gateways that tests start keep the operator's token in a home that is thrown away", async () => {
  const fleet = await Fleet.start({ count: 1, config: "" });
  try {
    expect(ownHome()).not.toBe(homedir());
    expect(existsSync(join(ownHome(), ".config/isthmus/operator.token"))).toBe(true);
    expect(operatorToken()).toMatch(/^isop_/);
  } finally {
    await fleet.stop();
  }
});
