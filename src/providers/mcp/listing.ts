/** Collects what a server offers. Entries are cut from the answer as they stand; one walk finds their names. */
import {
  decodeString,
  JsonFault,
  type ListedKind,
  type Log,
  Members,
  type Offer,
  type Payload,
  type Primitive,
  payload,
  Scanner,
} from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { LIST_ROUTES, type ListRoute } from "../../wire/mcp/index.ts";

const MAX_PAGES = 1000;
const MAX_ENTRIES = 100_000;

/** What is listed, and how the server is asked. */
export type Listing = {
  readonly capabilities: Payload;
  readonly log: Log;
  request(method: string, params: Payload): Promise<Message>;
};

export type Collected = {
  readonly offers: readonly Offer[];
  /** Lists that the server declares and did not give; what was offered of that kind before stays. */
  readonly refused: readonly string[];
};

/** Offers of the given kinds; a kind the server does not declare is empty. Rejects when a request fails. */
export async function collectOffers(listing: Listing, kinds: readonly ListedKind[]): Promise<Collected> {
  const routes = Object.entries(LIST_ROUTES).filter(([, route]) => kinds.includes(route.kind));
  const results = await Promise.all(routes.map(([method, route]) => collectOffer(listing, method, route)));
  return {
    offers: results.filter((result) => typeof result !== "string"),
    refused: results.filter((result) => typeof result === "string"),
  };
}

/** The offer, or why there is none. */
async function collectOffer(listing: Listing, method: string, route: ListRoute): Promise<Offer | string> {
  const primitives: Primitive[] = [];
  let extras = "";
  const offer = () => ({ kind: route.kind, primitives, extras });
  if (listing.capabilities.at([route.capability]) === undefined) return offer();
  const cursors = new Set<string>();
  let params = payload("");
  for (let page = 1; ; page++) {
    const answer = await listing.request(method, params);
    if (answer.outcome === "fault") return isUnknown(answer, route) ? offer() : refusal(method, answer);
    if (page === 1) extras = extrasOf(answer, route);
    const skipped = readEntries(answer, route, primitives);
    if (skipped > 0) listing.log.warn("list entries left out", { method, count: skipped });
    const cursor = answer.members?.textOf("nextCursor");
    if (cursor === undefined || cursor.charCodeAt(0) !== 34) return offer();
    if (cursors.has(cursor) || page === MAX_PAGES || primitives.length >= MAX_ENTRIES) {
      listing.log.warn("list cut short", {
        method,
        reason: cursors.has(cursor) ? "its cursors repeat" : "it is too long",
        page,
      });
      return offer();
    }
    cursors.add(cursor);
    params = payload(`{"cursor":${cursor}}`);
  }
}

/** A server may declare a capability and still not know one of its lists; with templates many answer in odd ways. */
function isUnknown(answer: Message, route: ListRoute): boolean {
  return route.kind === "template" || answer.members?.textOf("code") === "-32601";
}

function refusal(method: string, answer: Message): string {
  return `${method} failed with code ${answer.members?.textOf("code") ?? "unknown"}`;
}

/** Members of the list result beside the entries and the cursor. */
function extrasOf(answer: Message, route: ListRoute): string {
  const { members } = answer;
  if (!members) return "";
  return members.keys
    .filter((key) => key !== route.member && key !== "nextCursor")
    .map((key) => `"${key}":${members.textOf(key)}`)
    .join(",");
}

/** Adds the entries of one page; answers how many could not be used. */
function readEntries(answer: Message, route: ListRoute, into: Primitive[]): number {
  const list = answer.members?.textOf(route.member);
  if (list === undefined || list.charCodeAt(0) !== 91) return 0;
  const scanner = new Scanner(list);
  let skipped = 0;
  scanner.at = 1;
  scanner.space();
  while (list.charCodeAt(scanner.at) !== 93) {
    const primitive = readEntry(scanner, list, route);
    if (primitive && into.length < MAX_ENTRIES) into.push(primitive);
    else skipped++;
    scanner.space();
    if (list.charCodeAt(scanner.at) === 44) scanner.at++;
    scanner.space();
  }
  return skipped;
}

/** Stands on an entry, ends behind it. Undefined for one without a name, or that two readers could read differently. */
function readEntry(scanner: Scanner, list: string, route: ListRoute): Primitive | undefined {
  const start = scanner.at;
  if (list.charCodeAt(start) !== 123) {
    scanner.value(1);
    return undefined;
  }
  const entry = new Members(list, start);
  const hints = new Members(list, start);
  let isClear = true;
  const collect = (members: Members) => (key: string, from: number, to: number, keyStart: number) => {
    try {
      members.add(key, from, to, keyStart);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      isClear = false;
    }
  };
  scanner.members(1, collect(entry), (key) => (key === "annotations" ? collect(hints) : undefined));
  const name = decodeString(entry.textOf(route.nameKey));
  if (!isClear || name === undefined || name === "") return undefined;
  const repeatable =
    route.kind !== "tool" || hints.textOf("readOnlyHint") === "true" || hints.textOf("idempotentHint") === "true";
  return { kind: route.kind, name, definition: payload(list.slice(start, scanner.at)), repeatable };
}
