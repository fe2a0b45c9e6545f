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
      help = [name, rest];
    } else if (word === "TYPE") {
      if (!NAME.test(name) || help?.[0] !== name || help[1] === "") throw new Error(`${name} has no help`);
      if (families.has(name)) throw new Error(`${name} comes twice`);
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
  return families;
}

function endingsOf({ name, type }: Family): readonly string[] {
  return (ENDINGS[type] ?? [""]).map((ending) => name + ending);
}

function sampleIn(line: string): Sample {
  const [, name = "", written = "", value = ""] = SAMPLE.exec(line) ?? [];
  const number = value === "+Inf" ? Number.POSITIVE_INFINITY : value === "NaN" ? 0 : Number(value);
  if (name === "" || Number.isNaN(number)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < written.length) {
    const [, label, text = ""] = LABEL.exec(written) ?? [];
    if (label === undefined || label in labels) throw new Error(`wrong labels: ${line}`);
    labels[label] = text;
  }
  return { name, labels, value: number };
}
