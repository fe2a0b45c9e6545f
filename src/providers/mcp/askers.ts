import { hash } from "node:crypto";
import { type Call, copyString } from "../../contract/index.ts";

const MAX_KNOWN = 1000;
/** Of a longer name the digest is kept: a URI may be as long as a message. */
const MAX_KEY = 512;

/** What of a server asks questions. Bounded: what was forgotten is learned again. */
export class Askers {
  /** True: it has asked; false: it was running when something asked. */
  readonly #known = new Map<string, boolean>();

  has(call: Call): boolean {
    return this.#known.has(keyOf(call));
  }

  /** It has asked. */
  learn(call: Call): void {
    this.#note(keyOf(call), true);
  }

  /** It may have asked, or another call did. */
  suspect(call: Call): void {
    const key = keyOf(call);
    if (!this.#known.has(key)) this.#note(key, false);
  }

  /** It ran alone to its end, and has not asked. */
  acquit(call: Call): void {
    const key = keyOf(call);
    if (this.#known.get(key) === false) this.#known.delete(key);
  }

  #note(key: string, hasAsked: boolean): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(copyString(key), hasAsked);
  }
}

function keyOf({ method, target }: Call): string {
  const key = `${method} ${target.name}`;
  return key.length > MAX_KEY ? hash("sha256", key) : key;
}
