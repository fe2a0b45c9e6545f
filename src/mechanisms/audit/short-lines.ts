/**
 * Events of calls have most of their text in common, so it is written once: what is the same for a target as a template, what is
 * the same for a caller as a filler of its own gaps, and of each event only the values that fill the holes that are left. A text
 * has lines of four kinds: "=TEMPLATE" and "+FILLER", each counted from 0, "3.1\tVALUE\tVALUE" for an event of template 3 and
 * filler 1, and "{…}" for an event that is written whole. No JSON has one of these marks in it: it writes them as escapes.
 */
export const HOLE = "\x01";
export const GAP = "\x02";
export const BETWEEN = "\t";
const TEMPLATE = "=";
const FILLER = "+";

/** What is written of an event: its line, or the values that make one of a template and a filler. */
export type ShortLine = {
  readonly line: string;
  readonly template?: string | undefined;
  /** The texts for the gaps, with `HOLE` between them. */
  readonly filler?: string | undefined;
};

/** Writes the lines of one text. */
export class ShortLines {
  readonly #templates = new Map<string, number>();
  readonly #fillers = new Map<string, number>();

  /** Puts what an event needs at the end of `lines`: what others have in common with it comes with the first of them. */
  push({ line, template, filler = "" }: ShortLine, lines: string[]): void {
    if (template === undefined) {
      lines.push(line);
      return;
    }
    const first = numberOf(template, this.#templates, TEMPLATE, lines);
    const second = numberOf(filler, this.#fillers, FILLER, lines);
    lines.push(`${first}.${second}${BETWEEN}${line}`);
  }

  /** How much it knows: for `forget`. */
  get size(): readonly [number, number] {
    return [this.#templates.size, this.#fillers.size];
  }

  /** What it learned since it knew so much is not in the text after all. */
  forget([templates, fillers]: readonly [number, number]): void {
    cut(this.#templates, templates);
    cut(this.#fillers, fillers);
  }
}

function numberOf(text: string, known: Map<string, number>, mark: string, lines: string[]): number {
  const number = known.get(text);
  if (number !== undefined) return number;
  lines.push(mark + text);
  known.set(text, known.size);
  return known.size - 1;
}

function cut(known: Map<string, number>, size: number): void {
  for (const [text, number] of known) if (number >= size) known.delete(text);
}

/** Whether a line is no event, but what events have in common. */
export function isShared(line: string): boolean {
  return line.startsWith(TEMPLATE) || line.startsWith(FILLER);
}

export function wholeLine({ line, template, filler = "" }: ShortLine): string {
  return template === undefined ? line : filled(partsOf(template, filler), line.split(BETWEEN));
}

/**
 * The events of a text, in its order. A line that names what is not there is given as it is: it is no event of ours. An event that
 * lacks one of `words` is given as "": to put it together would be most of the work.
 */
export function wholeLines(text: string, words: readonly string[] = []): string[] {
  const shared = new Shared(words);
  return text.split("\n").flatMap((line) => {
    if (isShared(line)) shared.add(line);
    else return [line.startsWith("{") ? having(line, words) : shared.whole(line)];
    return [];
  });
}

/** A template or a filler, and which of the words it has. */
type SharedText = { readonly text: string; readonly has: readonly boolean[] };

/** What the events of a text have in common, as far as it was read. */
class Shared {
  readonly #words: readonly string[];
  readonly #templates: SharedText[] = [];
  readonly #fillers: SharedText[] = [];

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  add(line: string): void {
    const list = line.startsWith(TEMPLATE) ? this.#templates : this.#fillers;
    const text = line.slice(1);
    list.push({ text, has: this.#words.map((word) => text.includes(word)) });
  }

  whole(line: string): string {
    const place = PLACE.exec(line);
    const template = this.#templates[Number(place?.[1])];
    const filler = this.#fillers[Number(place?.[2])];
    if (!place || !template || !filler) return having(line, this.#words);
    const isMeant = this.#words.every((word, at) => template.has[at] || filler.has[at] || line.includes(word));
    if (!isMeant) return "";
    const parts = partsOf(template.text, filler.text);
    const values = line.slice(place[0].length).split(BETWEEN);
    return parts.length === values.length + 1 ? filled(parts, values) : having(line, this.#words);
  }
}

const PLACE = /^(\d+)\.(\d+)\t/;

function having(line: string, words: readonly string[]): string {
  return words.every((word) => line.includes(word)) ? line : "";
}

/** What stands around the values. */
function partsOf(template: string, filler: string): readonly string[] {
  const [first = "", ...rest] = template.split(GAP);
  const texts = filler.split(HOLE);
  return rest.reduce((text, part, index) => text + (texts[index] ?? "") + part, first).split(HOLE);
}

function filled([first = "", ...parts]: readonly string[], values: readonly string[]): string {
  return values.reduce((line, value, index) => line + value + (parts[index] ?? ""), first);
}
