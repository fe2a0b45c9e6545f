import { JsonFault, Scanner } from "./scanner.ts";
import { decodeString } from "./text.ts";

/** Nothing that is read by its members has nearly as many; to look at a million of them takes seconds. */
export const MAX_MEMBERS = 20_000;
/** Of lists: there is nothing to sort, but a million of them take as long. */
export const MAX_ITEMS = 50_000;

/** Where the members of one object stand in its text. Keys are unique and unescaped: that is checked when it is made. */
export class Members {
  readonly text: string;
  readonly start: number;
  end = 0;
  readonly #keys: string[] = [];
  readonly #spans: number[] = [];
  readonly #most: number;
  #seen: Set<string> | undefined;

  constructor(text: string, start: number, most = MAX_MEMBERS) {
    this.text = text;
    this.start = start;
    this.#most = most;
  }

  /** Refuses what two readers could read differently: a repeated key, or one written with an escape. And too many. */
  add(key: string, start: number, end: number, keyStart: number): void {
    if (key.includes("\\")) throw new JsonFault("escaped-key", keyStart, `escaped key at byte ${keyStart}`);
    if (this.#has(key)) throw new JsonFault("repeated-key", keyStart, `repeated key at byte ${keyStart}`);
    if (this.#keys.length >= this.#most)
      throw new JsonFault("members", keyStart, `more than ${this.#most} keys at byte ${keyStart}`);
    this.#keys.push(key);
    this.#spans.push(start, end, keyStart);
  }

  #has(key: string): boolean {
    if (this.#seen) {
      const before = this.#seen.size;
      return this.#seen.add(key).size === before;
    }
    if (this.#keys.length < 16) return this.#keys.includes(key);
    this.#seen = new Set(this.#keys);
    return this.#has(key);
  }

  get keys(): readonly string[] {
    return this.#keys;
  }

  has(key: string): boolean {
    return this.#keys.includes(key);
  }

  /** The value's text, or undefined. */
  textOf(key: string): string | undefined {
    const index = this.#keys.indexOf(key);
    return index < 0 ? undefined : this.textAt(index);
  }

  /** The value's text of the member that has this place in `keys`. */
  textAt(index: number): string {
    return this.text.slice(this.#spans[index * 3], this.#spans[index * 3 + 1]);
  }

  /** Whether this is the value's text. */
  isText(key: string, text: string): boolean {
    const index = this.#keys.indexOf(key);
    if (index < 0) return false;
    const start = this.#spans[index * 3] as number;
    const end = this.#spans[index * 3 + 1] as number;
    return end - start === text.length && this.text.slice(start, end) === text;
  }

  /** The object's text with these members replaced, or left out where no text is given; all else byte for byte. */
  edited(changes: readonly Change[]): string {
    const { text } = this;
    const last = this.#keys.length - 1;
    let result = "";
    let copied = this.start;
    for (let index = 0; index <= last; index++) {
      const change = changeOf(this.#keys[index] as string, changes);
      if (!change) continue;
      const at = index * 3;
      if (change[1] !== undefined) {
        result += text.slice(copied, this.#spans[at]) + change[1];
        copied = this.#spans[at + 1] as number;
      } else {
        result += text.slice(copied, this.#spans[at + 2]);
        // With the last member goes the comma before it, with any other the one behind it.
        if (index === last) result = withoutComma(result);
        copied = this.#spans[index === last ? at + 1 : at + 5] as number;
      }
    }
    return result + text.slice(copied, this.end);
  }

  spanOf(key: string): { start: number; end: number; keyStart: number } | undefined {
    const index = this.#keys.indexOf(key);
    if (index < 0) return undefined;
    const at = index * 3;
    return {
      start: this.#spans[at] as number,
      end: this.#spans[at + 1] as number,
      keyStart: this.#spans[at + 2] as number,
    };
  }
}

/** A member's new text, or none where it is left out. */
type Change = readonly [key: string, json?: string | undefined];

function changeOf(key: string, changes: readonly Change[]): Change | undefined {
  for (const change of changes) if (change[0] === key) return change;
  return undefined;
}

function withoutComma(text: string): string {
  let end = text.length;
  while (" \n\r\t".includes(text.charAt(end - 1)) && end > 0) end--;
  return text.charAt(end - 1) === "," ? text.slice(0, end - 1) : text;
}

/** The members of the object that starts at `start`, or undefined when something else stands there. Throws JsonFault. */
export function membersAt(text: string, start: number, depth = 1, most = MAX_MEMBERS): Members | undefined {
  if (text.charCodeAt(start) !== 123) return undefined;
  const scanner = new Scanner(text);
  scanner.at = start;
  const members = new Members(text, start, most);
  scanner.members(depth, (key, from, to, keyStart) => members.add(key, from, to, keyStart));
  members.end = scanner.at;
  return members;
}

export type FoundMember = {
  readonly span: { readonly start: number; readonly end: number; readonly keyStart: number } | undefined;
  /** Where the object ends. */
  readonly end: number;
  readonly isEmpty: boolean;
};

/**
 * One member of the object that starts at `start`. Only this member is read, so only it must be there once, however its
 * key is spelled; other keys may be escaped or repeated as far as we care. Undefined when something else stands there.
 */
export function findMember(text: string, start: number, key: string, depth = 1): FoundMember | undefined {
  if (text.charCodeAt(start) !== 123) return undefined;
  const scanner = new Scanner(text);
  scanner.at = start;
  let span: FoundMember["span"];
  let isEmpty = true;
  scanner.members(depth, (written, from, to, keyStart) => {
    isEmpty = false;
    if (written !== key && !(written.includes("\\") && decodeString(`"${written}"`) === key)) return;
    if (span) throw new JsonFault("repeated-key", keyStart, `repeated key at byte ${keyStart}`);
    span = { start: from, end: to, keyStart };
  });
  return { span, end: scanner.at, isEmpty };
}
