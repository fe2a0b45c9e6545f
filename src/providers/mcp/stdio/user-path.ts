/** The PATH that the user had before a script of npm was run. */
import { delimiter, isAbsolute } from "node:path";

/** What npm, and those who do as it does, puts before it: `node_modules/.bin` of every folder upwards, then this. */
const LAST_ADDED = /[\\/]node-gyp-bin[\\/]?$/;
const ADDED = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

/**
 * Without what was put before it: a clone's `node_modules/.bin` holds a Node of its own, which would hide the one with which
 * the user has installed their servers. The folder of our own Node comes last, for machines that have no other.
 */
export function userPath(path: string, ownNodeFolder: string): string {
  const entries = path.split(delimiter);
  const kept = entries.slice(countAdded(entries));
  return kept.includes(ownNodeFolder) ? kept.join(delimiter) : [...kept, ownNodeFolder].join(delimiter);
}

/** A script may have run another one. A folder of the user's own that looks the same stays, because nothing ends it. */
function countAdded(entries: readonly string[]): number {
  let count = 0;
  for (const [index, entry] of entries.entries()) {
    if (isAbsolute(entry) && LAST_ADDED.test(entry)) count = index + 1;
    else if (!isAbsolute(entry) || !ADDED.test(entry)) break;
  }
  return count;
}
