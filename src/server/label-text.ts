/** A label of a metric, as it stands between the braces. */
export function labelText(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`))}"`;
}
