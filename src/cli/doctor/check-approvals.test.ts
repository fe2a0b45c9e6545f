import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Config, ConfigSource } from "../../server/config/index.ts";
import { checkApprovals } from "./check-approvals.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function configWith(gate: string): Config {
  const config = join(folder, "isthmus.toml");
  writeFileSync(config, `[gate]\n${gate}\n[[gate.anchors]]\nfile = "operator.pub"\n`);
  return new ConfigSource({ config }, "program").read();
}

describe("a key file that is trusted", () => {
  test("is no way to say yes until it is there", () => {
    const config = configWith('evidence = "operator"');
    const found = () => checkApprovals(config).found;
    expect(found()).toBe("a call that waits needs the word of an operator");
    writeFileSync(join(folder, "operator.pub"), "x");
    expect(found()).toMatch(/operator, or a proof that is signed with a key which this gateway trusts$/);
  });

  test("is missed where nothing else counts", () => {
    const config = configWith('evidence = "external_proof"');
    expect(checkApprovals(config)).toMatchObject({
      level: "warning",
      advice: expect.stringContaining("operator init"),
    });
    writeFileSync(join(folder, "operator.pub"), "x");
    expect(checkApprovals(config)).toMatchObject({ level: "ok" });
  });
});
