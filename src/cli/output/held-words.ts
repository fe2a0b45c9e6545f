/** What is held back by a pin, in words for whoever misses it. */
import { PROGRAM } from "../program-name.ts";

/** Nothing where nothing is. */
export function heldLines(count: number, what = "tool"): string[] {
  if (count === 0) return [];
  const [are, they] = count === 1 ? [`1 ${what} is`, "it"] : [`${count} ${what}s are`, "they"];
  return [`${are} held back because ${they} changed: "${PROGRAM} pin diff" shows how.`];
}

/** The whole of what is said to whoever asks for this one. */
export function heldLine(name: string): string {
  return `${JSON.stringify(name)} is held back because it changed; "${PROGRAM} pin diff ${name}" shows how, and "${PROGRAM} pin accept ${name}" takes it as it is now`;
}
