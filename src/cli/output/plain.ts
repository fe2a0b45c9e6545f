/** What others wrote must not steer the terminal. */

/** On one line, without control characters. */
export function plainLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, " ").trim();
}

/** Line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(/[^\P{C}\n\t]+/gu, " ");
}

/** Cut at `width` characters, with a sign that something is missing. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(width - 1, 0)).join("")}…`;
}
