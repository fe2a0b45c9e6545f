import { describe, expect, test } from "vitest";
import { parseExposition } from "./exposition.ts";

const head = (type: string, name = "a_seconds") => `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n`;
const buckets = (...rows: readonly string[]) =>
  `${head("histogram")}${rows.map((row) => `a_seconds${row}\n`).join("")}`;

describe("the reader of metrics", () => {
  test("takes counters, gauges and histograms, with labels, escapes and numbers of every form", () => {
    const counter = `${head("counter", "b_total")}b_total{tool="a\\"b\\\\c\\nd",x=""} 3\nb_total{tool="e"} 1.5e3\n`;
    const histogram = buckets(
      '_bucket{le="0.1"} 1',
      '_bucket{le="1"} 1',
      '_bucket{le="+Inf"} 2',
      "_sum 4.5",
      "_count 2",
    );
    const read = parseExposition(`${counter}${head("gauge", "c")}c -1\n${histogram}`);
    expect([...read.values()].map(({ name, type, samples }) => [name, type, samples.length])).toEqual([
      ["b_total", "counter", 2],
      ["c", "gauge", 1],
      ["a_seconds", "histogram", 5],
    ]);
    expect(read.get("b_total")?.samples[0]?.labels.tool).toBe('a\\"b\\\\c\\nd');
  });

  const whole = ['_bucket{le="1"} 1', '_bucket{le="+Inf"} 2', "_sum 4.5", "_count 2"];
  test.each<[string, string]>([
    ["a last line without an end", `${head("gauge", "c")}c 1`],
    ["help twice", `# HELP c One.\n${head("gauge", "c")}c 1\n`],
    ["a type without help", "# TYPE c gauge\nc 1\n"],
    ["a family twice", `${head("gauge", "c")}c 1\n${head("gauge", "c")}c{x="1"} 1\n`],
    ["a type that is none", `${head("counters", "c")}c 1\n`],
    ["a series twice", `${head("gauge", "c")}c{a="1",b="2"} 1\nc{b="2",a="1"} 1\n`],
    ["a sample of another family", `${head("gauge", "c")}d 1\n`],
    ["a label twice", `${head("gauge", "c")}c{a="1",a="2"} 1\n`],
    ["a name of a label that is none", `${head("gauge", "c")}c{a-b="1"} 1\n`],
    ["an escape that is none", `${head("gauge", "c")}c{a="\\t"} 1\n`],
    ["a quote that is not escaped", `${head("gauge", "c")}c{a="x"y"} 1\n`],
    ["help with an escape that is none", `# HELP c A \\t.\n# TYPE c gauge\nc 1\n`],
    ["no number", `${head("gauge", "c")}c one\n`],
    ["an empty number", `${head("gauge", "c")}c 0x\n`],
    ["a comment in the middle that is neither", `${head("gauge", "c")}# hello\nc 1\n`],
    ["a counter below nothing", `${head("counter", "c_total")}c_total -1\n`],
    ["a counter that is no number", `${head("counter", "c_total")}c_total NaN\n`],
    ["a bucket without an edge", buckets("_bucket 1", ...whole)],
    ["edges in disorder", buckets('_bucket{le="2"} 1', ...whole)],
    ["fewer in a wider bucket", buckets('_bucket{le="0.1"} 2', ...whole)],
    ["no widest bucket", buckets('_bucket{le="1"} 2', "_sum 1", "_count 2")],
    ["a count that is not that of the widest bucket", buckets(...whole.slice(0, 3), "_count 3")],
    ["no sum", buckets(...whole.filter((row) => !row.startsWith("_sum")))],
  ])("refuses %s", (_what, text) => {
    expect(() => parseExposition(text)).toThrow();
  });
});
