/**
 * URIs that are counted, not refused: a pattern finds one in every spelling that some server may take for one that it fits. Where
 * nobody can tell what a server makes of it, that is every URI of its scheme. Capitals make no difference: to many servers there is none.
 */
import { matchesPattern } from "../../contract/index.ts";
import { barest, uriFault } from "./plain-path.ts";
import { hasKnownScheme, hasOpenAddress, withAddressEnd } from "./uri-address.ts";

/** A pattern over names, worked out once. */
export class CountedPattern {
  readonly bare: string;
  /** For URIs of which everybody knows where their host ends. */
  readonly ended: string;

  constructor(pattern: string) {
    this.bare = barest(pattern.toLowerCase());
    this.ended = hasOpenAddress(pattern) ? withAddressEnd(this.bare) : this.bare;
  }
}

const SCHEME = /^\s*([a-z][a-z0-9+.-]*:)/;

export class CountedUri {
  /** Its barest form; unset: it can be read in two ways. */
  readonly #bare: string | undefined;
  readonly #scheme: string;
  readonly #isKnown: boolean;

  constructor(uri: string) {
    const lower = uri.toLowerCase();
    this.#bare = uriFault(lower) === undefined ? barest(lower) : undefined;
    this.#scheme = SCHEME.exec(lower)?.[1] ?? "";
    this.#isKnown = hasKnownScheme(lower);
  }

  /** `start`: what stands before it in the names that the pattern is over. */
  fits({ bare, ended }: CountedPattern, start: string): boolean {
    const before = start.toLowerCase();
    if (this.#bare === undefined) return mayBegin(bare, before + this.#scheme);
    const isEnded = this.#isKnown && ended !== bare;
    return matchesPattern(isEnded ? ended : bare, before + (isEnded ? withAddressEnd(this.#bare) : this.#bare));
  }
}

/** Whether a pattern fits a text that begins so. */
function mayBegin(pattern: string, start: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  return head.startsWith(start) || (rest.length > 0 && start.startsWith(head));
}
