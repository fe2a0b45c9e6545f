/** What has come and was not yet looked at, in order. Waiting is bounded, so that a lost message is a failure and not a hang. */
const WAIT_MS = 4_000;

export class Inbox<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  push(item: T): void {
    const take = this.#waiting.shift();
    if (take) take(item);
    else this.#items.push(item);
  }

  /** Takes everything that has come so far. */
  drain(): T[] {
    return this.#items.splice(0);
  }

  next(): Promise<T> {
    if (this.#items.length > 0) return Promise.resolve(this.#items.shift() as T);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => reject(new Error(`nothing came: ${this.#what}`)), WAIT_MS);
    this.#waiting.push((item) => {
      clearTimeout(timer);
      resolve(item);
    });
    return promise;
  }
}
