/** What holds of the policy while one of its rows cannot be read: because of that row nobody may do more than before. */
import type { PolicyEntry } from "../../contract/index.ts";
import { readBinding, readDefault, readExposure, readGrant } from "./stored-policy.ts";

/**
 * `before`: the rows that held until now. What was taken away is gone and what denies holds, but what is new and allows waits: the
 * row that cannot be read may be about the same. In its own place stays what was there, if that denied something.
 */
export function rowsThatHold(now: readonly PolicyEntry[], before: readonly PolicyEntry[]): readonly PolicyEntry[] {
  const held = new Map(before.map((entry) => [placeOf(entry), entry]));
  return now.flatMap((entry) => {
    const former = held.get(placeOf(entry));
    const isAllowing = allows(entry);
    if (isAllowing === undefined) return former && allows(former) === false ? [former] : [];
    return !isAllowing || former?.value === entry.value ? [entry] : [];
  });
}

/** Undefined: it cannot be read. */
function allows(entry: PolicyEntry): boolean | undefined {
  try {
    switch (entry.kind) {
      case "grant":
        return readGrant(entry).permission === "allow";
      case "binding":
        return readBinding(entry).allowed;
      case "exposure":
        return readExposure(entry).enabled;
      default:
        return readDefault(entry).policy === "opt-out";
    }
  } catch {
    return undefined;
  }
}

function placeOf({ tenant, kind, key }: PolicyEntry): string {
  return JSON.stringify([tenant, kind, key]);
}
