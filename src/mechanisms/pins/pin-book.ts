/**
 * What was seen of each tool and prompt when it was first seen, and what has been seen since. Every change can be made
 * twice without harm: several gateways and the command line write the same book, each repeating its changes on what the
 * others have written.
 */
import { createHash } from "node:crypto";
import { differences, membersDigest, type PinKind, type Print } from "./fingerprint.ts";

export type PinTarget = { readonly server: string; readonly kind: PinKind; readonly name: string };

/** A definition that nobody has accepted yet. */
export type PendingPrint = Print & {
  readonly since: string;
  readonly what: readonly string[];
  readonly was?: string | undefined;
};

export type Pin = PinTarget & {
  readonly since: string;
  /** What it may look like; several when it differs from client to client, or was accepted in turn. */
  readonly prints: readonly Print[];
  readonly pending: readonly PendingPrint[];
  /** When somebody last accepted a change: from then on nothing is learned by itself. */
  readonly acceptedAt?: string | undefined;
  /** Since when the server does not list it. */
  readonly goneAt?: string | undefined;
};

export type PinChange = (book: PinBook) => void;

export const MAX_PRINTS = 8;
export const MAX_PINS = 10_000;
/** Of one server, accepted or not. With so many only the newest that waits is kept of each pin, and none is learned. */
export const MAX_SERVER_PRINTS = 12_000;
/** Bytes of one server: what comes beyond is known by its digests alone. With these bounds no fifteen servers fill the file. */
export const MAX_SERVER_TEXTS = 4 * 1024 * 1024;
/** In bytes as it is written. A longer name is known by its digest: names are whatever a server likes. */
const MAX_NAME = 256;
/** What one UTF-16 unit takes at most, in an escape. */
const MOST_PER_UNIT = 6;

/** The pins of one server by key, and what they come to. */
type ServerPins = { readonly pins: Map<string, Pin>; prints: number; textBytes: number };

export class PinBook {
  readonly #servers = new Map<string, ServerPins>();

  find(target: PinTarget): Pin | undefined {
    return this.#servers.get(target.server)?.pins.get(keyOf(target));
  }

  /** Accepted or not. */
  has(target: PinTarget, print: Print): boolean {
    const pin = this.find(target);
    return pin !== undefined && (has(pin.prints, print) || has(pin.pending, print));
  }

  *pinsOf(server: string): Iterable<Pin> {
    yield* this.#servers.get(server)?.pins.values() ?? [];
  }

  *all(): Iterable<Pin> {
    for (const { pins } of this.#servers.values()) yield* pins.values();
  }

  get isEmpty(): boolean {
    return this.#servers.size === 0;
  }

  get pending(): Pin[] {
    return [...this.all()].filter((pin) => pin.pending.length > 0);
  }

  isFull(server: string): boolean {
    return (this.#servers.get(server)?.pins.size ?? 0) >= MAX_PINS;
  }

  #hasManyPrints(server: string): boolean {
    return (this.#servers.get(server)?.prints ?? 0) >= MAX_SERVER_PRINTS;
  }

  /** Takes a pin as it stands, with as much of its texts as there is room for. Nothing where the server has too many. */
  put(pin: Pin): void {
    const own = this.#servers.get(pin.server) ?? { pins: new Map<string, Pin>(), prints: 0, textBytes: 0 };
    const key = keyOf(pin);
    if (own.pins.size >= MAX_PINS && !own.pins.has(key)) return;
    this.#servers.set(pin.server, own);
    uncount(own, own.pins.get(key));
    const keep = <P extends Print>(print: P): P => keptPrint(own, print);
    own.pins.set(key, {
      ...pin,
      name: boundName(pin.name),
      prints: pin.prints.map(keep),
      // The newest first: that is what somebody is going to look at.
      pending: pin.pending.toReversed().map(keep).reverse(),
    });
  }

  /** It was seen for the first time. */
  pin(target: PinTarget, print: Print, at: string): void {
    if (!this.find(target)) this.put({ ...target, since: at, prints: [print], pending: [] });
  }

  /** It looks otherwise to another client, and has from the beginning. */
  learn(target: PinTarget, print: Print): void {
    const pin = this.find(target);
    if (!pin || pin.acceptedAt !== undefined || pin.prints.length >= MAX_PRINTS || has(pin.prints, print)) return;
    if (!this.#hasManyPrints(target.server)) this.put({ ...pin, prints: [...pin.prints, print] });
  }

  /** It is as it was pinned, as far as a rule of before could tell: from now on all of it counts. */
  renew(target: PinTarget, print: Print): void {
    const pin = this.find(target);
    const former = pin && formerOf(pin, print);
    if (pin && former) this.put({ ...pin, prints: pin.prints.map((one) => (one === former ? print : one)) });
  }

  /** It has changed. `was`: it is a copy of the one with that name. */
  suspect(target: PinTarget, print: Print, { at, was }: { at: string; was?: string | undefined }): void {
    const pin = this.find(target) ?? { ...target, since: at, prints: [], pending: [] };
    if (has(pin.prints, print) || has(pin.pending, print)) return;
    // A copy under another name stays one, however it changes before somebody has accepted it.
    const original = was ?? (pin.prints.length === 0 ? pin.pending.at(-1)?.was : undefined);
    const what = original === undefined ? nearestDifferences(pin.prints, print) : ["name"];
    const pending: PendingPrint = { ...print, since: at, what, ...(original !== undefined && { was: original }) };
    const most = this.#hasManyPrints(target.server) ? 1 : MAX_PRINTS;
    this.put({ ...pin, pending: [...pin.pending, pending].slice(-most) });
  }

  /** Somebody has looked at it: what they were shown, by its digest, is as it should be. False where that is not what waits now. */
  accept(target: PinTarget, at: string, shown: string): boolean {
    const pin = this.find(target);
    if (!pin || pendingDigest(pin) !== shown) return false;
    const accepted = pin.pending.map(({ since: _since, what: _what, was: _was, ...print }): Print => print);
    const prints = [...pin.prints, ...accepted].slice(-MAX_PRINTS);
    this.put({ ...pin, prints, pending: [], acceptedAt: at });
    return true;
  }

  /** The server lists it no more, since `at`; unset: it does again. */
  setGone(target: PinTarget, at: string | undefined): void {
    const pin = this.find(target);
    if (pin && (pin.goneAt === undefined) !== (at === undefined)) this.put({ ...pin, goneAt: at });
  }

  drop(target: PinTarget): void {
    const own = this.#servers.get(target.server);
    if (!own) return;
    uncount(own, this.find(target));
    own.pins.delete(keyOf(target));
  }
}

function uncount(own: ServerPins, pin: Pin | undefined): void {
  for (const print of [...(pin?.prints ?? []), ...(pin?.pending ?? [])]) {
    own.prints--;
    own.textBytes -= textBytes(print);
  }
}

/** Counts it, and leaves its texts out where the server has no room for them. */
function keptPrint<P extends Print>(own: ServerPins, print: P): P {
  own.prints++;
  const bytes = textBytes(print);
  if (own.textBytes + bytes > MAX_SERVER_TEXTS) return { ...print, texts: undefined };
  own.textBytes += bytes;
  return print;
}

function textBytes({ texts }: Print): number {
  let bytes = 0;
  for (const name in texts) bytes += Buffer.byteLength(texts[name] ?? "");
  return bytes;
}

/** The accepted print of the same members that was made when only those counted. */
export function formerOf({ kind, prints }: Pin, print: Print): Print | undefined {
  const digest = membersDigest(kind, print);
  return prints.find((one) => one.rule === undefined && one.digest === digest);
}

function has(prints: readonly Print[], { digest }: Print): boolean {
  return prints.some((print) => print.digest === digest);
}

/** What differs from the definition that is most like it. */
function nearestDifferences(prints: readonly Print[], print: Print): string[] {
  const [nearest = []] = prints.map((one) => differences(one, print)).sort((a, b) => a.length - b.length);
  return nearest;
}

/** The accepted definition that a change is nearest to; undefined: there is none. */
export function nearestPrint(prints: readonly Print[], print: Print): Print | undefined {
  return prints.toSorted((a, b) => differences(a, print).length - differences(b, print).length)[0];
}

/** Of all that waits to be accepted of this pin: another definition gives another one. Undefined: nothing waits. */
export function pendingDigest({ server, kind, name, pending }: Pin): string | undefined {
  if (pending.length === 0) return undefined;
  const shown = [server, kind, boundName(name), pending.map(({ digest, was }) => [digest, was ?? null])];
  return createHash("sha256").update(JSON.stringify(shown)).digest("hex").slice(0, DIGEST_LENGTH);
}

/** In hex digits: nobody makes two definitions of the same digest. */
const DIGEST_LENGTH = 32;

/** What a pin is known by within its server. */
export function keyOf({ kind, name }: Pick<PinTarget, "kind" | "name">): string {
  return `${kind} ${boundName(name)}`;
}

const QUOTES = 2;

function boundName(name: string): string {
  if (name.length * MOST_PER_UNIT <= MAX_NAME) return name;
  if (name.length <= MAX_NAME && Buffer.byteLength(JSON.stringify(name)) <= MAX_NAME + QUOTES) return name;
  return `sha256:${createHash("sha256").update(name).digest("base64url")}`;
}
