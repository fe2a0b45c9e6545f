import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Ending } from "../ending.ts";
import { check, openConfigFile, textWith } from "./config-file.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(text: string): ReturnType<typeof openConfigFile> {
  const config = join(folder, "isthmus.toml");
  writeFileSync(config, text);
  return openConfigFile({ config });
}

const UNSET = `[gateway]
sealKey = { fromEnv = "ISTHMUS_TEST_SEAL" }
[database]
url = { fromEnv = "ISTHMUS_TEST_DBURL" }
[shared]
url = "\${ISTHMUS_TEST_REDIS}"
[cluster]
key = { fromEnv = "ISTHMUS_TEST_KEY" }
[vault]
keys = [{ fromEnv = "ISTHMUS_TEST_VAULT" }]
[audit]
otlp = true
[[servers]]
id = "a"
command = "x"
env.TOKEN = { fromEnv = "ISTHMUS_TEST_TOKEN" }
`;

function refusal(run: () => unknown): readonly string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof Ending) return error.lines;
    throw error;
  }
}

describe("a config file that a verb changes", () => {
  test("may name variables that are not set in this shell, wherever they stand", () => {
    const file = fileWith(UNSET);
    expect(refusal(() => check(file, `${file.text}disabled = true\n`))).toEqual([]);
    expect(textWith(file, [{ id: "b", command: "y" }])).toContain('id = "b"');
  });

  test("is refused for what is wrong beside them, and for nothing else", () => {
    const file = fileWith(UNSET);
    expect(refusal(() => check(file, `${file.text}colour = 1\n`))).toEqual([
      expect.stringContaining("servers.a.colour: unknown key"),
      "nothing was written",
    ]);
    const known = file.text.replace('{ fromEnv = "ISTHMUS_TEST_DBURL" }', '"mysql:x"');
    expect(refusal(() => check(file, known)).join("\n")).toContain("database.url: expected a URL that begins");
  });
});
