import { expect, test } from "vitest";
import { EXIT_CODES } from "./exit-codes.ts";

test("exit codes keep their numbers, because scripts rely on them", () => {
  expect(Object.fromEntries(Object.entries(EXIT_CODES).map(([name, { code }]) => [name, code]))).toEqual({
    ok: 0,
    failure: 1,
    usage: 2,
    config: 3,
    listen: 4,
    toolError: 5,
    callFailed: 6,
    unreachable: 7,
    problems: 8,
    file: 9,
    store: 10,
    altered: 11,
    refused: 12,
    interrupted: 130,
  });
});
