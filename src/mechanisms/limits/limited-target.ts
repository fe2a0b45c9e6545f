/** What a call is of, as limits find it: in whatever spelling it is asked for, and by the template that leads to it. */
import { type Entry, matchesPattern, type Target } from "../../contract/index.ts";
import { type CountedPattern, CountedUri } from "../access/index.ts";

/** What limits look at. */
export type Limitable = Pick<Entry, "target" | "template">;

/** How a primitive is called in the list of everything. */
export type DottedOf = (target: Target) => string;

/** A pattern as it is written, and as it finds URIs. */
export type LimitPattern = { readonly written: string; readonly counted: CountedPattern };

type Name = { readonly dotted: string; readonly own: string };

export class LimitedTarget {
  readonly target: Target;
  readonly #names: readonly Name[];
  /** What stands before the server's own name, where it is a URI. */
  readonly #start: string;
  #uri: CountedUri | undefined;

  constructor({ target, template }: Limitable, dottedOf: DottedOf) {
    this.target = target;
    const all = template === undefined ? [target] : [target, template];
    this.#names = all.map((one) => ({ dotted: dottedOf(one), own: one.name }));
    const dotted = dottedOf(target);
    this.#start = dotted.slice(0, dotted.length - target.name.length);
  }

  /** `isOwn`: the server's own names are meant, too. */
  fits({ written, counted }: LimitPattern, isOwn: boolean): boolean {
    const isWritten = ({ dotted, own }: Name) =>
      matchesPattern(written, dotted) || (isOwn && matchesPattern(written, own));
    return this.#names.some(isWritten) || (this.target.kind === "resource" && this.#fitsUri(counted, isOwn));
  }

  #fitsUri(pattern: CountedPattern, isOwn: boolean): boolean {
    this.#uri ??= new CountedUri(this.target.name);
    return this.#uri.fits(pattern, this.#start) || (isOwn && this.#uri.fits(pattern, ""));
  }
}
