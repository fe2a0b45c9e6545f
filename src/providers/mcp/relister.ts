import type { ListedKind } from "../../contract/index.ts";

/**
 * Lists again when told, one listing at a time: what is asked for while one runs is done together after it.
 * `list` reports its own failures and never rejects.
 */
export function createRelister(
  list: (kinds: readonly ListedKind[]) => Promise<void>,
): (kinds: readonly ListedKind[]) => Promise<void> {
  const wanted = new Set<ListedKind>();
  let running: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (wanted.size > 0) {
      // Servers that register tools one by one announce each of them: the rest of this turn belongs to one listing.
      await Promise.resolve();
      const kinds = [...wanted];
      wanted.clear();
      await list(kinds);
    }
    running = undefined;
  }

  return (kinds) => {
    for (const kind of kinds) wanted.add(kind);
    running ??= work();
    return running;
  };
}
