/** Reads Prometheus' text format 0.0.4 as strictly as its grammar is: whatever a scraper could stumble over throws. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};
export type Family = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
};

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const HELP = /^(?:[^\\]|\\[\\n])*$/;
const TYPES = ["counter", "gauge", "histogram", "summary", "untyped"];
/** As Go writes and reads them. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** What the samples of a family may be called beside its own name. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: readonly [string, string] | undefined;
  let family: Family | undefined;
  for (const line of text.split("\n")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (line === "") continue;
    if (word === "HELP") {
      if (help) throw new Error(`${help[0]} has help and no type`);
      if (!HELP.test(rest)) throw new Error(`${name} has help that is wrongly escaped`);
      help = [name, rest];
    } else if (word === "TYPE") {
      if (!NAME.test(name) || help?.[0] !== name || help[1] === "") throw new Error(`${name} has no help`);
      if (families.has(name)) throw new Error(`${name} comes twice`);
      if (!TYPES.includes(rest)) throw new Error(`${name} has a type that is none: ${rest}`);
      family = { name, type: rest, help: help[1], samples: [] };
      families.set(name, family);
      help = undefined;
    } else {
      const sample = sampleIn(line);
      if (!family || !endingsOf(family).includes(sample.name)) throw new Error(`stands apart from its family: ${line}`);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (seen.has(key)) throw new Error(`comes twice: ${line}`);
      seen.add(key);
      family.samples.push(sample);
    }
  }
  if (help) throw new Error(`${help[0]} has help and no type`);
  for (const one of families.values()) checkNumbers(one);
  return families;
}

/** What a type promises of its numbers. */
function checkNumbers(family: Family): void {
  const { name, type, samples } = family;
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} counts down`);
  if (type === "histogram") for (const series of seriesOf(family).values()) checkHistogram(name, series);
}

/** The samples of each set of labels, without that of buckets. */
function seriesOf({ samples }: Family): ReadonlyMap<string, readonly Sample[]> {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _edge, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  return series;
}

function checkHistogram(name: string, series: readonly Sample[]): void {
  const valuesOf = (ending: string) => series.filter((one) => one.name === name + ending);
  const buckets = valuesOf("_bucket").map(({ labels, value }) => ({ edge: numberIn(labels.le ?? ""), value }));
  const isRising = buckets.every(({ edge, value }, index) => {
    const before = buckets[index - 1];
    return !Number.isNaN(edge) && (before === undefined || (before.edge < edge && before.value <= value));
  });
  const [widest, counts, sums] = [buckets.at(-1), valuesOf("_count"), valuesOf("_sum")];
  const isWhole = widest?.edge === Number.POSITIVE_INFINITY && counts.length === 1 && sums.length === 1;
  if (!isRising || !isWhole || widest.value !== counts[0]?.value) throw new Error(`${name} is no histogram`);
}

function endingsOf({ name, type }: Family): readonly string[] {
  return (ENDINGS[type] ?? [""]).map((ending) => name + ending);
}

function sampleIn(line: string): Sample {
  const [, name = "", written = "", value = ""] = SAMPLE.exec(line) ?? [];
  const number = numberIn(value);
  if (name === "" || (Number.isNaN(number) && value !== "NaN")) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < written.length) {
    const [, label, text = ""] = LABEL.exec(written) ?? [];
    if (label === undefined || label in labels) throw new Error(`wrong labels: ${line}`);
    labels[label] = text;
  }
  return { name, labels, value: number };
}

/** NaN: it is none, or is written so. */
function numberIn(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  if (text === "-Inf") return Number.NEGATIVE_INFINITY;
  return NUMBER.test(text) ? Number(text) : Number.NaN;
}
