import { inspect } from "node:util";

const PRINTED = "[secret]";

/** A value that does not print: only `reveal` gives it, at the place where it is sent. */
export class Secret {
  readonly #value: string;
  readonly #referred: readonly string[];

  /** `referred`: what of it is not in the config itself, but where the config refers to. */
  constructor(value: string, referred: readonly string[] = [value]) {
    this.#value = value;
    this.#referred = referred;
  }

  /** What of it must not be seen anywhere. None: an operator wrote it down as it is. */
  revealReferred(): readonly string[] {
    return this.#referred;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return PRINTED;
  }

  toJSON(): string {
    return PRINTED;
  }

  [inspect.custom](): string {
    return PRINTED;
  }
}
