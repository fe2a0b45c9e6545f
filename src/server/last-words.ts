/** What programs of servers wrote to standard error last: when one does not work, that mostly says why. */

const KEPT = 3;

export class LastWords {
  readonly #lines = new Map<string, readonly string[]>();

  /** A program of this server has started. What the former one wrote stays until this one writes something. */
  begin(server: string): (line: string) => void {
    let own: readonly string[] = [];
    return (line) => {
      own = [...own.filter((one) => one !== line), line].slice(-KEPT);
      this.#lines.set(server, own);
    };
  }

  forget(server: string): void {
    this.#lines.delete(server);
  }

  /** In the order in which they came. */
  of(server: string): { readonly lastWords?: readonly string[] } {
    const lastWords = this.#lines.get(server);
    return lastWords ? { lastWords } : {};
  }
}
