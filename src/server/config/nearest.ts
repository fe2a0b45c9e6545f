/** Nobody mistypes a longer word; comparing would only take time. */
const MAX_LENGTH = 64;

/** The candidate that a typing mistake most likely meant, or undefined when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const plain = normalise(word);
  let best: string | undefined;
  // A word of which nothing is left resembles everything as little.
  let bestDistance = Math.min(Math.max(1, Math.floor(plain.length / 3)) + 1, Math.max(plain.length, 1));
  for (const candidate of candidates) {
    const distance = editDistance(plain, normalise(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

// `max_body` and `maxbody` both mean `maxBody`.
function normalise(word: string): string {
  return word.replace(/[-_]/g, "").toLowerCase();
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** As the end of a sentence that says what was found: nothing where no candidate is near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? "" : `, did you mean ${JSON.stringify(meant)}?`;
}
