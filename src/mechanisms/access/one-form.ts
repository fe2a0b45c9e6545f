/**
 * Texts of callers and servers in the one form that Unicode has for all spellings of a letter. What stands between two letters is
 * sorted for that, in time that grows with its square: so of more marks than any letter has, no more than that are sorted at once.
 */

const ASCII = /^[\0-\x7f]*$/;
/** UAX 15, 12.1: it is not seen, and nothing is sorted across it. */
const JOINER = "\u034f";
/**
 * Marks, and the two letters that become some in the compatible form, but for the joiner. No letter of any language has as many
 * (UAX 15: at most 30).
 */
const MANY_MARKS = /[[\p{M}\uff9e\uff9f]--\u034f]{31}/v;
const ALL_MARKS = /[[\p{M}\uff9e\uff9f]--\u034f]{30}/gv;

/** Spellings of such a text cannot be told from each other in time. */
export function hasManyMarks(text: string): boolean {
  return !isAscii(text) && MANY_MARKS.test(text);
}

/** It is in each of the forms as it is. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Where it has too many marks, whatever it is compared with has to go through this, too. */
export function toForm(text: string, form: "NFC" | "NFKC"): string {
  if (isAscii(text)) return text;
  const sortable = MANY_MARKS.test(text) ? text.replace(ALL_MARKS, `$&${JOINER}`) : text;
  return sortable.normalize(form);
}
