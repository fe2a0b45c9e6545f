/** Lets what is done about the same thing be done one after another, within this process. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all that was begun before it for this key is over, however that went. */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
