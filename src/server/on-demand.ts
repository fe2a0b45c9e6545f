/**
 * Something that a start does without. Whoever makes it loads the code for it with `import()`, which the bundle does not
 * run before: a plain start would spend a fifth of its time on it.
 */
export class OnDemand<Value> {
  readonly #make: () => Promise<Value>;
  #making: Promise<Value> | undefined;
  #value: Value | undefined;

  constructor(make: () => Promise<Value>) {
    this.#make = make;
  }

  /** Undefined: nobody has wanted it yet. */
  get present(): Value | undefined {
    return this.#value;
  }

  /** Makes it once. Where that fails, whoever wanted it hears why, and the next one tries again. */
  get(): Promise<Value> {
    this.#making ??= this.#make().then(
      (value) => {
        this.#value = value;
        return value;
      },
      (error: unknown) => {
        this.#making = undefined;
        throw error;
      },
    );
    return this.#making;
  }
}
