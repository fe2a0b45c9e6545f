/** Keyword search over a few thousand short texts: BM25 over weighted fields, with prefixes of words counted as well. */

export type Searched = {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
};

export type Hit<Item> = { readonly item: Item; readonly score: number };

/** A word in a name says more than one in a description. */
const WEIGHTS = { name: 3, title: 2, description: 1 } as const;
/** A query word that only begins a word of the text. */
const PREFIX_SHARE = 0.5;
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

type Document<Item> = { readonly item: Item; readonly counts: ReadonlyMap<string, number>; readonly length: number };

/** Best first; equal scores in the order of their names. Items without any of the words are left out. */
export function rank<Item extends Searched>(query: string, items: readonly Item[]): Hit<Item>[] {
  const wanted = [...new Set(wordsOf(query))];
  const documents = items.map(toDocument);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(documents.length, 1);
  const weights = wanted.map((word) =>
    rarity(documents.filter((one) => frequency(word, one) > 0).length, items.length),
  );
  const hits = documents.map((document) => ({ item: document.item, score: score(document, wanted, weights, average) }));
  return hits
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.item.name < b.item.name ? -1 : a.item.name > b.item.name ? 1 : 0));
}

/** `readFile`, `read_file` and `files.read-file` all hold the word "file". */
export function wordsOf(text: string): string[] {
  const apart = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2");
  return apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function toDocument<Item extends Searched>(item: Item): Document<Item> {
  const counts = new Map<string, number>();
  let length = 0;
  const fields = [
    [item.name, WEIGHTS.name],
    [item.title ?? "", WEIGHTS.title],
    [item.description ?? "", WEIGHTS.description],
  ] as const;
  for (const [text, weight] of fields) {
    for (const word of wordsOf(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  }
  return { item, counts, length };
}

function score(document: Document<unknown>, words: readonly string[], weights: readonly number[], average: number) {
  const size = 1 - LENGTH_SHARE + LENGTH_SHARE * (document.length / Math.max(average, 1));
  return words.reduce((sum, word, index) => {
    const often = frequency(word, document);
    return sum + ((weights[index] ?? 0) * often * (SATURATION + 1)) / (often + SATURATION * size);
  }, 0);
}

function frequency(word: string, { counts }: Document<unknown>): number {
  const whole = counts.get(word);
  if (whole !== undefined) return whole;
  let begun = 0;
  for (const [known, count] of counts) if (known.startsWith(word)) begun = Math.max(begun, count);
  return begun * PREFIX_SHARE;
}

function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}
