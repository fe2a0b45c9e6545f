/** What others wrote must not steer the terminal. */

/** On one line, without control characters and without more blanks than are needed. */
export function plainLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, " ").trim();
}

/** On one line, without control characters; blanks stay. */
export function plainBlanks(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]+/gu, " ");
}

/** Line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(/(?:[^\P{C}\n\t]|[\u2028\u2029])+/gu, " ");
}

/** Cut at `width` characters, with a sign that something is missing. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(width - 1, 0)).join("")}…`;
}
