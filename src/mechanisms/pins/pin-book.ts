/**
 * What was seen of each tool and prompt when it was first seen, and what has been seen since. Every change can be made
 * twice without harm: several gateways and the command line write the same book, each repeating its changes on what the
 * others have written.
 */
import { createHash } from "node:crypto";
import { differences, type PinKind, type Print } from "./fingerprint.ts";

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
/** A longer name is known by its digest: names are whatever a server likes. */
const MAX_NAME = 256;

export class PinBook {
  readonly #servers = new Map<string, Map<string, Pin>>();

  find(target: PinTarget): Pin | undefined {
    return this.#servers.get(target.server)?.get(keyOf(target));
  }

  *pinsOf(server: string): Iterable<Pin> {
    yield* this.#servers.get(server)?.values() ?? [];
  }

  *all(): Iterable<Pin> {
    for (const pins of this.#servers.values()) yield* pins.values();
  }

  get isEmpty(): boolean {
    return this.#servers.size === 0;
  }

  get pending(): Pin[] {
    return [...this.all()].filter((pin) => pin.pending.length > 0);
  }

  isFull(server: string): boolean {
    return (this.#servers.get(server)?.size ?? 0) >= MAX_PINS;
  }

  /** Takes a pin as it stands. Nothing where the server has too many. */
  put(pin: Pin): void {
    const pins = this.#servers.get(pin.server) ?? new Map<string, Pin>();
    const key = keyOf(pin);
    if (pins.size >= MAX_PINS && !pins.has(key)) return;
    pins.set(key, { ...pin, name: boundName(pin.name) });
    this.#servers.set(pin.server, pins);
  }

  /** It was seen for the first time. */
  pin(target: PinTarget, print: Print, at: string): void {
    if (!this.find(target)) this.put({ ...target, since: at, prints: [print], pending: [] });
  }

  /** It looks otherwise to another client, and has from the beginning. */
  learn(target: PinTarget, print: Print): void {
    const pin = this.find(target);
    if (!pin || pin.acceptedAt !== undefined || pin.prints.length >= MAX_PRINTS || has(pin.prints, print)) return;
    this.put({ ...pin, prints: [...pin.prints, print] });
  }

  /** It has changed. `was`: it is a copy of the one with that name. */
  suspect(target: PinTarget, print: Print, { at, was }: { at: string; was?: string | undefined }): void {
    const pin = this.find(target) ?? { ...target, since: at, prints: [], pending: [] };
    if (has(pin.prints, print) || has(pin.pending, print)) return;
    // A copy under another name stays one, however it changes before somebody has accepted it.
    const original = was ?? (pin.prints.length === 0 ? pin.pending.at(-1)?.was : undefined);
    const what = original === undefined ? nearestDifferences(pin.prints, print) : ["name"];
    const pending: PendingPrint = { ...print, since: at, what, ...(original !== undefined && { was: original }) };
    this.put({ ...pin, pending: [...pin.pending, pending].slice(-MAX_PRINTS) });
  }

  /** Somebody has looked at it: what it has shown so far is as it should be. */
  accept(target: PinTarget, at: string): void {
    const pin = this.find(target);
    if (!pin || pin.pending.length === 0) return;
    const accepted = pin.pending.map(({ digest, parts }): Print => ({ digest, parts }));
    const prints = [...pin.prints, ...accepted].slice(-MAX_PRINTS);
    this.put({ ...pin, prints, pending: [], acceptedAt: at });
  }

  /** The server lists it no more, since `at`; unset: it does again. */
  setGone(target: PinTarget, at: string | undefined): void {
    const pin = this.find(target);
    if (pin && (pin.goneAt === undefined) !== (at === undefined)) this.put({ ...pin, goneAt: at });
  }

  drop(target: PinTarget): void {
    this.#servers.get(target.server)?.delete(keyOf(target));
  }
}

function has(prints: readonly Print[], { digest }: Print): boolean {
  return prints.some((print) => print.digest === digest);
}

/** What differs from the definition that is most like it. */
function nearestDifferences(prints: readonly Print[], print: Print): string[] {
  const [nearest = []] = prints.map((one) => differences(one, print)).sort((a, b) => a.length - b.length);
  return nearest;
}

/** What a pin is known by within its server. */
export function keyOf({ kind, name }: Pick<PinTarget, "kind" | "name">): string {
  return `${kind} ${boundName(name)}`;
}

function boundName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `sha256:${createHash("sha256").update(name).digest("base64url")}`;
}
