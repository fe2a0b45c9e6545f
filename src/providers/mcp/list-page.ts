/** One page of a list: its entries are cut from the answer as they stand; one walk, in steps, finds their names. */
import {
  decodeString,
  JsonFault,
  Members,
  type Primitive,
  payload,
  Scanner,
  type Steps,
} from "../../contract/index.ts";
import { type Message, skimMessage } from "../../wire/jsonrpc/index.ts";
import type { ListRoute } from "../../wire/mcp/index.ts";
import type { LargeAnswer } from "./large-answer.ts";
import { requireUtf8 } from "./read-messages.ts";

export type Page = {
  /** The result as far as it was read. */
  readonly text: string;
  readonly primitives: readonly Primitive[];
  /** Further members of the result, each as `"key":value`, joined by commas. */
  readonly extras: string;
  /** As JSON text; undefined on the last page. */
  readonly cursor: string | undefined;
  /** How many entries could not be used, by what is wrong with them. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** There was no room for all of it. */
  readonly isCut: boolean;
};

/** How much more of a list is taken. */
export type Room = { readonly entries: number; readonly bytes: number };

export type PageAnswer = Message | LargeAnswer;

/** Of one entry. What is done with it later, its digest say, is one step each, between which calls go on. */
export const MAX_ENTRY_BYTES = 1024 * 1024;

/** Of a name or URI: it is looked up, compared and written into logs wherever something is listed or called. */
export const MAX_NAME_LENGTH = 8 * 1024;
/** Of a template: whoever reads what nobody lists, at whichever server, has it held against all of them. */
export const MAX_TEMPLATE_LENGTH = 2 * 1024;
export const MAX_EXPRESSIONS = 32;
/** For the same reason, of one server. */
export const MAX_TEMPLATES = 500;

const CLOSE_ARRAY = 93;
const CLOSE_OBJECT = 125;
const COMMA = 44;

export function isLarge(answer: PageAnswer): answer is LargeAnswer {
  return "start" in answer;
}

/** Whether reading the answer would give this page again: decided by its bytes, without reading it. Throws MessageFault. */
export function isSamePage(answer: PageAnswer, page: Page, room: Room): boolean {
  if (page.primitives.length > room.entries || page.text.length > room.bytes) return false;
  if (!isLarge(answer)) return page.isCut ? answer.body.text.startsWith(page.text) : answer.body.text === page.text;
  const { text, start } = answer;
  const end = start + page.text.length;
  if (text.length < end || text.slice(start, end) !== page.text) return false;
  return page.isCut || isFrameOf(answer, end);
}

/** What stands around the result is the message that was waited for. Throws MessageFault. */
function isFrameOf({ text, id, start }: LargeAnswer, end: number): boolean {
  const { kind, id: answered } = skimMessage(`${text.slice(0, start)}{}${text.slice(end)}`);
  return kind === "response" && answered === id;
}

/** Throws JsonFault, or MessageFault. */
export function* readPage(answer: PageAnswer, route: ListRoute, room: Room): Steps<Page> {
  const isUnread = isLarge(answer);
  const reading = new PageReading(isUnread ? answer.text : answer.body.text, isUnread ? answer.start : 0, route, room);
  const page = yield* reading.read(isUnread);
  if (isUnread && !page.isCut && !isFrameOf(answer, answer.start + page.text.length))
    throw new JsonFault("syntax", answer.start, "the list stands in no answer");
  return page;
}

class PageReading {
  readonly #text: string;
  readonly #start: number;
  readonly #route: ListRoute;
  readonly #room: Room;
  readonly #scanner: Scanner;
  readonly #members: Members;
  readonly #primitives: Primitive[] = [];
  readonly #leftOut = new Map<string, number>();
  #isCut = false;

  constructor(text: string, start: number, route: ListRoute, room: Room) {
    this.#text = text;
    this.#start = start;
    this.#route = route;
    this.#room = room;
    this.#scanner = new Scanner(text);
    this.#members = new Members(text, start);
  }

  get #code(): number {
    return this.#text.charCodeAt(this.#scanner.at);
  }

  /** `isUnread`: nobody has looked whether its bytes are text. */
  *read(isUnread: boolean): Steps<Page> {
    const scanner = this.#scanner;
    scanner.at = this.#start + 1;
    scanner.space();
    let from = this.#start;
    while (this.#code !== CLOSE_OBJECT && !this.#isCut) {
      yield* this.#member();
      if (isUnread) requireUtf8(this.#text.slice(from, scanner.at));
      from = scanner.at;
    }
    if (!this.#isCut) scanner.at++;
    return this.#page();
  }

  *#member(): Steps<void> {
    const scanner = this.#scanner;
    const keyStart = scanner.at;
    if (this.#text.charAt(keyStart) !== '"') scanner.fail("syntax", "expected a key");
    scanner.string();
    const key = this.#text.slice(keyStart + 1, scanner.at - 1);
    scanner.space();
    if (this.#text.charAt(scanner.at) !== ":") scanner.fail("syntax", "expected : after a key");
    scanner.at++;
    scanner.space();
    const start = scanner.at;
    if (key === this.#route.member && this.#text.charAt(start) === "[") yield* this.#entries();
    else scanner.value(2);
    this.#members.add(key, start, scanner.at, keyStart);
    if (!this.#isCut) this.#next(CLOSE_OBJECT);
    yield;
  }

  *#entries(): Steps<void> {
    const scanner = this.#scanner;
    scanner.at++;
    scanner.space();
    while (this.#code !== CLOSE_ARRAY) {
      const isFull = this.#primitives.length >= this.#room.entries || scanner.at - this.#start >= this.#room.bytes;
      if (isFull) {
        this.#isCut = true;
        return;
      }
      const start = scanner.at;
      const primitive = readEntry(scanner, this.#text, this.#route);
      const fault = faultOf(primitive, scanner.at - start);
      if (primitive && fault === undefined) this.#primitives.push(primitive);
      else if (fault !== undefined) this.#leftOut.set(fault, (this.#leftOut.get(fault) ?? 0) + 1);
      this.#next(CLOSE_ARRAY);
      yield;
    }
    scanner.at++;
  }

  /** Behind a value: goes to the next one, or stands at the end. */
  #next(close: number): void {
    const scanner = this.#scanner;
    scanner.space();
    if (this.#code === close) return;
    if (this.#code !== COMMA) scanner.fail("syntax", "expected a comma");
    scanner.at++;
    scanner.space();
    if (this.#code === close) scanner.fail("syntax", "expected a value after the comma");
  }

  #page(): Page {
    const members = this.#members;
    const { member } = this.#route;
    const cursor = members.textOf("nextCursor");
    const extras = members.keys
      .flatMap((key, index) => (key === member || key === "nextCursor" ? [] : [`"${key}":${members.textAt(index)}`]))
      .join(",");
    return {
      text: this.#text.slice(this.#start, this.#scanner.at),
      primitives: this.#primitives,
      extras,
      cursor: cursor?.startsWith('"') ? cursor : undefined,
      leftOut: this.#leftOut,
      isCut: this.#isCut,
    };
  }
}

/** Why an entry is not taken. */
function faultOf(primitive: Primitive | undefined, bytes: number): string | undefined {
  if (bytes > MAX_ENTRY_BYTES) return `larger than ${MAX_ENTRY_BYTES} bytes`;
  if (!primitive) return "without a name, or unclear";
  const { kind, name } = primitive;
  const most = kind === "template" ? MAX_TEMPLATE_LENGTH : MAX_NAME_LENGTH;
  if (name.length > most) return `its ${kind === "template" ? "template" : "name"} is longer than ${most} characters`;
  const hasMany = kind === "template" && name.split("{", MAX_EXPRESSIONS + 2).length > MAX_EXPRESSIONS + 1;
  return hasMany ? `its template has more than ${MAX_EXPRESSIONS} expressions` : undefined;
}

/** Stands on an entry, ends behind it. Undefined for one without a name, or that two readers could read differently. */
function readEntry(scanner: Scanner, list: string, route: ListRoute): Primitive | undefined {
  const start = scanner.at;
  if (list.charCodeAt(start) !== 123) {
    scanner.value(3);
    return undefined;
  }
  const entry = new Members(list, start);
  const hints = new Members(list, start);
  let isClear = true;
  const collect = (members: Members) => (key: string, from: number, to: number, keyStart: number) => {
    try {
      if (isClear) members.add(key, from, to, keyStart);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      isClear = false;
    }
  };
  scanner.members(3, collect(entry), (key) => (key === "annotations" ? collect(hints) : undefined));
  const name = decodeString(entry.textOf(route.nameKey));
  if (!isClear || name === undefined || name === "") return undefined;
  const repeatable =
    route.kind !== "tool" || hints.textOf("readOnlyHint") === "true" || hints.textOf("idempotentHint") === "true";
  return { kind: route.kind, name, definition: payload(list.slice(start, scanner.at)), repeatable };
}
