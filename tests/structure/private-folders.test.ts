import { expect, test } from "vitest";
import { listFiles, readText } from "./repo-files.ts";

const MAKER = "src/contract/private-folder.ts";

test("every folder of ours is made by the one function that keeps others and git out of it", () => {
  const files = listFiles("src", ".ts").filter((file) => !/\.test\.ts$|\/fixtures\//.test(file));
  expect(files.filter((file) => /\bmkdir(?:Sync)?\(/.test(readText(file)))).toEqual([MAKER]);
});
