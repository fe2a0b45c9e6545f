import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveReferences } from "./references.ts";

describe("resolveReferences", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function resolve(value: unknown, env: Record<string, string> = {}) {
    const problems: string[] = [];
    const files: string[] = [];
    const { X } = resolveReferences({ X: value }, ["servers", 0, "env"], {
      env,
      folder,
      configFiles: [join(folder, "isthmus.toml")],
      onProblem: (path, text) => problems.push(`${path.join(".")}: ${text}`),
      onFile: (file) => files.push(file),
    });
    return { text: X?.reveal(), problems, files };
  }

  test.each([
    ["secret\n", "secret"],
    ["secret\r\n", "secret"],
    ["secret", "secret"],
    ["two\nlines\n\n", "two\nlines\n"],
    [" spaces \n", " spaces "],
  ])("takes %j from a file as %j", (written, read) => {
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "sub/token"), written);
    expect(resolve({ fromFile: "sub/token" })).toEqual({
      text: read,
      problems: [],
      files: [join(folder, "sub/token")],
    });
    expect(resolve({ fromFile: join(folder, "sub/token") }).text).toBe(read);
  });

  test.each([
    ["none", "cannot be read (ENOENT)"],
    [".", "is a directory"],
    ["/dev/zero", "is no regular file"],
    ["empty", "is empty"],
    ["newline", "is empty"],
    ["huge", "is larger than 64 KiB"],
    ["isthmus.toml", "is the config itself; put the secret in a file of its own"],
    ["./sub/../isthmus.toml", "is the config itself; put the secret in a file of its own"],
  ])("says what is wrong with the file %j, and names it for whoever watches", (name, problem) => {
    writeFileSync(join(folder, "empty"), "");
    writeFileSync(join(folder, "newline"), "\n");
    writeFileSync(join(folder, "huge"), Buffer.alloc(70_000, "x"));
    const { problems, files } = resolve({ fromFile: name });
    expect(problems).toEqual([`servers.0.env.X: the file ${JSON.stringify(name)} ${problem}`]);
    expect(files).toHaveLength(1);
  });

  test("fills in each ${NAME} of a text, and nothing that only looks like one [MG-333]", () => {
    expect(resolve("${A}-$B-${}-${A}", { A: "1", B: "2" }).text).toBe("1-$B-${}-1");
  });

  test("takes the default of ${NAME:-default} where the variable is not set or empty, as a shell does", () => {
    expect(resolve("${A:-one}/${B:-two}/${C:-}", { A: "1", B: "" })).toMatchObject({ text: "1/two/", problems: [] });
    expect(resolve("${A:-${B}}", { B: "2" }).text).toBe("${B}");
  });

  test("does not fill in what a variable holds", () => {
    expect(resolve("${A}", { A: "${B}", B: "2" }).text).toBe("${B}");
  });

  test("names a variable that is not set, and the one that was probably meant", () => {
    expect(resolve("${CRM_TOKN}", { CRM_TOKEN: "hunter2" }).problems).toEqual([
      'servers.0.env.X: the environment variable "CRM_TOKN" is not set, did you mean "CRM_TOKEN"?',
    ]);
    expect(resolve({ fromEnv: "NONE" }).problems).toEqual([
      'servers.0.env.X: the environment variable "NONE" is not set, set it before the gateway starts, or in a file that -e FILE names',
    ]);
  });
});
