const INVISIBLE = /[\p{C}\u2028\u2029]/gu;

/**
 * Characters that a terminal obeys or does not show, as JSON escapes: control characters of both kinds, what turns the direction of
 * text, line separators. JSON on one line stays the same JSON.
 */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
