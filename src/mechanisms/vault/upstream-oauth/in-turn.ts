/** Work that is done one after the other for the same key; whoever fails keeps nobody from their turn. */
export class InTurn {
  readonly #last = new Map<string, Promise<void>>();

  async run(key: string, work: () => Promise<void>): Promise<void> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const over = mine
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(key) === over) this.#last.delete(key);
      });
    this.#last.set(key, over);
    await mine;
  }
}
