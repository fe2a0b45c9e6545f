/**
 * Keys in other spellings. Some readers do not mind case, Go's encoding/json among them; some take snake_case for camelCase,
 * as the models of the Python SDK do. Who judges a message and who acts on it must not read different members.
 */
import { decodeString, stringOf } from "./text.ts";

/** Names that somebody has specified: no other spelling of them is taken for something else. */
export class SpecifiedNames {
  /** Few: they are found faster one by one than by the hash of a key that was cut from a message. */
  readonly #exact: readonly string[];
  readonly #loose: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#exact = names;
    this.#loose = new Map(names.map((name) => [loosely(name), name]));
  }

  /** `written`: the text between the quotes of a key. */
  has(written: string): boolean {
    return this.#exact.includes(written);
  }

  /** The name of which the key is another spelling. */
  misspelled(written: string): string | undefined {
    if (this.has(written)) return undefined;
    const key = written.includes("\\") ? (decodeString(`"${written}"`) as string) : stringOf(written);
    const name = this.#loose.get(loosely(key));
    return name === key ? undefined : name;
  }
}

/** Through upper case, as some letters beyond ASCII are letters of it there. Of the Turkish capital i a dot is left over. */
function loosely(key: string): string {
  return key.replace(/[_-]/g, "").toUpperCase().toLowerCase().replaceAll("\u0307", "");
}
