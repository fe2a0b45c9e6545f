/** Real clients of both revisions against real servers of both; see matrix.ts. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { surprises } from "./gaps.ts";
import { PAIRS, type Run, runMatrix } from "./matrix.ts";
import { PAGE, renderPage } from "./table.ts";

let runs: Run[] = [];

beforeAll(async () => {
  runs = await runMatrix();
}, 120_000);

describe("the eras", () => {
  for (const pair of PAIRS) {
    test(`client ${pair.client} uses server ${pair.server} ${pair.way === "direct" ? "directly" : "through the gateway"}`, () => {
      const { way, client, server } = pair;
      const run = runs.find((one) => one.way === way && one.client === client && one.server === server);
      expect(run && surprises(run)).toEqual([]);
    });
  }

  test("are documented as they are (node tests/eras/table.ts writes the page)", () => {
    expect(readFileSync(PAGE, "utf8")).toBe(renderPage(runs));
  });
});
