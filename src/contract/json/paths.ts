import { JsonFault, type OnInner, type OnMember, Scanner } from "./scanner.ts";
import { decodeString, stringOf } from "./text.ts";

type Place = {
  /** By their keys as ordinary strings. */
  readonly inner: Map<string, Place>;
  /** Which of the paths end here. */
  readonly ends: number[];
  isFound: boolean;
};

const newPlace = (): Place => ({ inner: new Map(), ends: [], isFound: false });

/**
 * The texts of the values at these paths, in one walk however many they are; undefined where there is none. Keys are ordinary
 * strings, and each key on a path must be there once, however it is spelled: throws JsonFault otherwise.
 */
export function textsAt(text: string, paths: readonly (readonly string[])[]): readonly (string | undefined)[] {
  const found: (string | undefined)[] = paths.map(() => undefined);
  if (text.charCodeAt(0) !== 123) return found;
  const { member, inner } = watched(treeOf(paths), (place, start, end) => {
    for (const index of place.ends) found[index] = text.slice(start, end);
  });
  new Scanner(text).members(1, member, inner);
  return found;
}

function treeOf(paths: readonly (readonly string[])[]): Place {
  const root = newPlace();
  for (const [index, path] of paths.entries()) {
    let place = root;
    for (const key of path) {
      const next = place.inner.get(key) ?? newPlace();
      place.inner.set(key, next);
      place = next;
    }
    place.ends.push(index);
  }
  return root;
}

type OnFound = (place: Place, start: number, end: number) => void;

function watched({ inner }: Place, onFound: OnFound): { readonly member: OnMember; readonly inner: OnInner } {
  const placeOf = (written: string) =>
    inner.get((written.includes("\\") ? decodeString(`"${written}"`) : undefined) ?? stringOf(written));
  return {
    member: (written, start, end, keyStart) => {
      const place = placeOf(written);
      if (!place) return;
      if (place.isFound) throw new JsonFault("repeated-key", keyStart, `repeated key at byte ${keyStart}`);
      place.isFound = true;
      onFound(place, start, end);
    },
    inner: (written) => {
      const place = placeOf(written);
      return place && place.inner.size > 0 ? watched(place, onFound) : undefined;
    },
  };
}
