import { decodeString, type Payload } from "../../contract/index.ts";

/** How a server of the 2025 era may name its question, so that clients which see the name meet it again. */
const KEY_NAME = "dev.isthmus/key";
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;

/** The keys of the questions in one call: none is ever used twice. */
export class AskKeys {
  readonly #taken = new Set<string>();
  #next = 1;

  /** The key wished for if it is free, else one of ours. */
  take(wish: string | undefined): string {
    let key = wish !== undefined && KEY.test(wish) ? wish : `a${this.#next++}`;
    while (this.#taken.has(key)) key = `a${this.#next++}`;
    this.#taken.add(key);
    return key;
  }
}

/** The key that a question of a server asks for. */
export function wishedKey(input: Payload): string | undefined {
  return input.text.includes(KEY_NAME) ? decodeString(input.at(["_meta", KEY_NAME])) : undefined;
}
