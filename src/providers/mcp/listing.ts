/** Collects what a server offers, within bounds. */
import type { Effort, ListedKind, Log, Offer, Payload, Slices } from "../../contract/index.ts";
import { payload } from "../../contract/index.ts";
import { LIST_ROUTES, type ListRoute } from "../../wire/mcp/index.ts";
import type { CutList, ListMemory } from "./list-memory.ts";
import { isLarge, isSamePage, MAX_TEMPLATES, type Page, type PageAnswer, type Room, readPage } from "./list-page.ts";
import { quotedCode } from "./quoted-words.ts";
import { UpstreamFault } from "./transport.ts";

const MAX_PAGES = 1000;
/** What it takes to get an answer is not measured, but it takes something. */
const BYTES_PER_MS = 100_000;

/** What is listed, and how the server is asked. */
export type Listing = {
  readonly capabilities: Payload;
  readonly log: Log;
  readonly memory: ListMemory;
  /** How much of one list is read. */
  readonly bounds: Room;
  readonly slices: Slices;
  readonly effort: Effort;
  request(method: string, params: Payload): Promise<PageAnswer>;
};

export type Collected = {
  /** One that is the same object as before has not changed. */
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
  const { memory } = listing;
  const pages: Page[] = [];
  try {
    const refused = await readPages(listing, method, route, pages);
    if (refused === undefined) return memory.offerOf(route.kind, pages);
    memory.drop(route.kind, pages);
    return refused;
  } catch (error) {
    memory.drop(route.kind, pages);
    throw error;
  }
}

/** Adds to `pages` what is read. Resolves to why the list was not given. */
async function readPages(
  listing: Listing,
  method: string,
  route: ListRoute,
  pages: Page[],
): Promise<string | undefined> {
  const { memory, log } = listing;
  let cut: CutList | undefined;
  const cursors = new Set<string>();
  const isDeclared = listing.capabilities.at([route.capability]) !== undefined;
  let cursor: string | undefined = isDeclared ? "" : undefined;
  while (cursor !== undefined) {
    const answer = await listing.request(method, payload(cursor === "" ? "" : `{"cursor":${cursor}}`));
    if (!isLarge(answer) && answer.outcome === "fault") {
      if (!isUnknown(answer, route)) return refusal(method, answer);
      break;
    }
    listing.effort.ms += sizeOf(answer) / BYTES_PER_MS;
    const page = await readOrKnow(listing, answer, route, pages);
    pages.push(page);
    if (page.cursor === undefined && !page.isCut) break;
    const reason = whyNoMore(pages, cursors, mostOf(listing.bounds, route));
    if (reason !== undefined) {
      cut = { method, reason };
      if (!memory.pagesOf(route.kind).includes(page)) log.warn("list cut short", { ...cut, page: pages.length });
      break;
    }
    cursor = page.cursor;
    if (cursor !== undefined) cursors.add(cursor);
  }
  memory.setCut(route.kind, cut);
  return undefined;
}

async function readOrKnow(
  { memory, bounds, slices, effort, log }: Listing,
  answer: PageAnswer,
  route: ListRoute,
  before: readonly Page[],
): Promise<Page> {
  const most = mostOf(bounds, route);
  const room: Room = {
    entries: most.entries - before.reduce((sum, { primitives }) => sum + primitives.length, 0),
    bytes: most.bytes - before.reduce((sum, { text }) => sum + text.length, 0),
  };
  try {
    const isMeant = (page: Page) => !isCrowded(page, room) && isSamePage(answer, page, room);
    const known = memory.known(route.kind, before.length, isMeant);
    if (known) return known;
    const read = (within: Room) => slices.run(readPage(answer, route, within), effort);
    const page = await memory.read(route.kind, { most: room, bytes: sizeOf(answer), read });
    for (const [reason, count] of page.leftOut)
      log.warn("list entries left out", { list: route.member, count, reason });
    return page;
  } catch (cause) {
    throw new UpstreamFault({ kind: "invalid", message: "The server's answer is not a valid message.", cause });
  }
}

/** It was cut although there was room within the bounds of the list. */
function isCrowded({ isCut, text, primitives }: Page, room: Room): boolean {
  return isCut && text.length < room.bytes && primitives.length < room.entries;
}

function sizeOf(answer: PageAnswer): number {
  return isLarge(answer) ? answer.text.length : answer.body.text.length;
}

type Most = Room & { readonly remedy: string };

/** How much of one list is taken. */
function mostOf({ entries, bytes }: Room, { kind }: ListRoute): Most {
  if (kind === "template" && entries > MAX_TEMPLATES) return { entries: MAX_TEMPLATES, bytes, remedy: "" };
  return { entries, bytes, remedy: ": raise maxEntries of the server" };
}

/** Why the list is read no further; undefined: there is more to read. */
function whyNoMore(pages: readonly Page[], cursors: ReadonlySet<string>, bounds: Most): string | undefined {
  const last = pages.at(-1);
  const entries = pages.reduce((sum, { primitives }) => sum + primitives.length, 0);
  const bytes = pages.reduce((sum, { text }) => sum + text.length, 0);
  if (entries >= bounds.entries) return `it has more than ${bounds.entries} entries${bounds.remedy}`;
  if (last?.isCut && bytes < bounds.bytes)
    return 'what it lists for single clients takes the memory that there is for that: set sessions = "shared" for the server';
  if (bytes >= bounds.bytes) return `it is larger than ${bounds.bytes} bytes: raise maxList of the server`;
  if (pages.length >= MAX_PAGES) return `it has more than ${MAX_PAGES} pages`;
  return last?.cursor !== undefined && cursors.has(last.cursor) ? "its cursors repeat" : undefined;
}

type Fault = Exclude<PageAnswer, { start: number }>;

/** A server may declare a capability and still not know one of its lists; with templates many answer in odd ways. */
function isUnknown(answer: Fault, route: ListRoute): boolean {
  return route.kind === "template" || answer.members?.textOf("code") === "-32601";
}

function refusal(method: string, answer: Fault): string {
  return `${method} failed with code ${quotedCode(answer.members)}`;
}
