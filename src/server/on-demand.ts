/**
 * Something that a start does without. Whoever makes it gets the code for it by `import()`, and nothing of that runs before:
 * the operations alone would be a tenth of a start.
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
