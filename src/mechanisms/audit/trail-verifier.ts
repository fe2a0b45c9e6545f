/**
 * Reads a whole trail once and says what was done to it. Takes the checkpoints in order, then the heads, then the blocks, those
 * of one chain together, then the checkpoints that were written meanwhile. It trusts nothing but the keys it is given.
 */
import type { AuditBlock, AuditCheckpoint, AuditHead } from "../../contract/index.ts";
import { hashOf } from "./block.ts";
import { type CheckpointText, checkpointHash, checkpointText } from "./checkpoint-text.ts";
import { alteredEvents } from "./locate.ts";
import { type Gap, RemovedBlocks } from "./removed-blocks.ts";
import { type Keyring, signatureFault } from "./signing.ts";

export type TrailProblem = {
  readonly what: "altered" | "missing" | "inserted" | "moved" | "signature";
  /** The chain; unset where it is about a checkpoint. */
  readonly writer?: string;
  /** The first and the last block that it is about, and the place of the event in it, from 0. */
  readonly block?: number;
  readonly lastBlock?: number;
  readonly event?: number;
  readonly checkpoint?: number;
  readonly text: string;
};

export type TrailReport = {
  readonly isIntact: boolean;
  readonly events: number;
  readonly blocks: number;
  readonly chains: number;
  readonly checkpoints: number;
  /** The number and the hash of the last checkpoint: who keeps them elsewhere can tell whether it was taken away. */
  readonly lastCheckpoint?: { readonly number: number; readonly hash: string; readonly at: string };
  /** Blocks that no checkpoint has seen yet: these alone could be cut off unnoticed. */
  readonly uncovered: number;
  /** What was removed because it was old, as checkpoints say. */
  readonly removed?: { readonly blocks: number; readonly until: string };
  readonly keys: readonly string[];
  /** At most so many are told. */
  readonly problems: readonly TrailProblem[];
};

/** A checkpoint that somebody has kept elsewhere. Its hash holds everything before it. `place`: where, if it was us; 0: unreadable there. */
export type KnownCheckpoint = {
  readonly number: number;
  readonly hash: string;
  readonly at?: string;
  readonly place?: string;
};

const MAX_PROBLEMS = 100;
const BEHIND = "stands behind the blocks: it comes before what it has seen";
/** Blocks whose signatures are checked by that of the last one: each one's hash stands in the next. */
const SIGNED_STRIDE = 512;

/** What checkpoints have seen of one chain. */
type Promised = { last: number; readonly blocks: Map<number, { readonly hash: string; readonly checkpoint: number }> };
type Seen = Pick<AuditBlock, "number" | "hash" | "signature">;

export class TrailVerifier {
  readonly #keys: Keyring;
  readonly #known: Set<KnownCheckpoint>;
  readonly #problems: TrailProblem[] = [];
  readonly #promised = new Map<string, Promised>();
  readonly #heads = new Map<string, AuditHead>();
  readonly #done = new Set<string>();
  readonly #counts = { events: 0, blocks: 0, checkpoints: 0, uncovered: 0 };
  readonly #removed = new RemovedBlocks();
  /** They may have been removed while the trail was read. */
  readonly #gaps: Gap[] = [];
  #last: { readonly checkpoint: AuditCheckpoint; readonly at: string } | undefined;
  #newest: AuditCheckpoint | undefined;
  #chain: { readonly writer: string; next: number; previous: string; unchecked: Seen[] } | undefined;

  /** `known`: the trail must have these. */
  constructor(keys: Keyring, known: readonly KnownCheckpoint[] = []) {
    this.#keys = keys;
    this.#known = new Set(known);
  }

  checkpoint(checkpoint: AuditCheckpoint): void {
    this.#counts.checkpoints++;
    const { number } = checkpoint;
    // Its promises are about what is read after it.
    if (this.#chain) return this.#tell({ what: "moved", checkpoint: number, text: `checkpoint ${number} ${BEHIND}` });
    const said = this.#read(checkpoint);
    if (!said) return;
    this.#last = { checkpoint, at: said.at };
    for (const known of this.#known) {
      if (known.number === number && known.hash === checkpointHash(checkpoint)) this.#known.delete(known);
    }
    for (const { writer, block, hash } of said.heads) {
      const promised = this.#promised.get(writer) ?? { last: -1, blocks: new Map() };
      promised.last = Math.max(promised.last, block);
      promised.blocks.set(block, { hash, checkpoint: number });
      this.#promised.set(writer, promised);
    }
    if (!said.removed) return;
    this.#removed.take(said.removed);
    for (const { writer, block } of said.removed.chains) this.#forgetPromises(writer, block);
  }

  /** Written while the trail was read, so that it has seen more: it only tells what was removed meanwhile. */
  later(checkpoint: AuditCheckpoint): void {
    const said = this.#read(checkpoint);
    if (said?.removed) this.#removed.takeLater(said.removed);
  }

  /** Undefined where nothing that it says can be believed. */
  #read(checkpoint: AuditCheckpoint): CheckpointText | undefined {
    const { number, at, text, signature } = checkpoint;
    const tell = (what: TrailProblem["what"], said: string): undefined =>
      void this.#tell({ what, checkpoint: number, text: `checkpoint ${number} ${said}` });
    const expected = (this.#newest?.number ?? 0) + 1;
    const previous = this.#newest ? checkpointHash(this.#newest) : "";
    const fault = signatureFault(text, signature, this.#keys);
    const said = checkpointText(text);
    if (fault) return tell(fault === "unknown key" ? "signature" : "altered", faultText(fault, signature));
    if (said?.number !== number) return tell("altered", "stands in the place of another one");
    if (Date.parse(said.at) !== at) tell("altered", "bears another time than it was signed with");
    if (number > expected) {
      const text = `checkpoints ${expected} to ${number - 1} are missing`;
      this.#tell({ what: "missing", checkpoint: expected, text });
    } else if (number < expected) return tell("moved", "comes twice, or after a later one");
    else if (said.previous !== previous) tell("moved", "does not follow the one before it");
    this.#newest = checkpoint;
    return said;
  }

  /** Of what is not there any more. */
  #forgetPromises(writer: string, upTo: number): void {
    const blocks = this.#promised.get(writer)?.blocks ?? new Map<number, unknown>();
    for (const number of blocks.keys()) {
      if (number > upTo) return;
      blocks.delete(number);
    }
  }

  head(head: AuditHead): void {
    this.#heads.set(head.writer, head);
  }

  block(block: AuditBlock): void {
    this.#counts.blocks++;
    this.#counts.events += block.count;
    const chain = this.#chainOf(block.writer);
    const { number } = block;
    if (number <= this.#removed.lastOf(block.writer)) return this.#at(block, "inserted", "was removed, and put back");
    if (number < chain.next) return this.#at(block, "moved", "comes twice, or after a later one");
    if (number > chain.next) this.#gap(block.writer, chain.next, number - 1, block.previous);
    else if (block.previous !== chain.previous) this.#blameLink(block, chain.unchecked.at(-1));
    const isWhole = hashOf(block) === block.hash;
    if (!isWhole) this.#blameContent(block);
    this.#keepPromise(block);
    chain.next = number + 1;
    chain.previous = block.hash;
    if (!isWhole) return;
    chain.unchecked.push({ number, hash: block.hash, signature: block.signature });
    if (chain.unchecked.length >= SIGNED_STRIDE) this.#checkSignatures(chain.writer, chain.unchecked);
  }

  end(): TrailReport {
    this.#endChain();
    for (const [writer, { last }] of this.#promised) this.#endWithoutBlocks(writer, last);
    for (const { writer, number } of this.#heads.values()) {
      if (!this.#promised.has(writer)) this.#endWithoutBlocks(writer, number);
    }
    for (const gap of this.#gaps) if (!this.#removed.explains(gap)) this.#tellGap(gap);
    for (const known of this.#known) this.#tellUnmet(known);
    const last = this.#last;
    const removed = this.#removed.total;
    return {
      isIntact: this.#problems.length === 0,
      ...this.#counts,
      chains: this.#done.size,
      ...(last && {
        lastCheckpoint: { number: last.checkpoint.number, hash: checkpointHash(last.checkpoint), at: last.at },
      }),
      ...(removed && { removed }),
      keys: [...this.#keys.keys()],
      problems: this.#problems,
    };
  }

  #tellUnmet({ number, at, place }: KnownCheckpoint): void {
    const newest = this.#newest?.number ?? 0;
    if (place === undefined) {
      const text = `checkpoint ${number} is not the one that is known: it was taken away, or another trail stands in its place`;
      return this.#tell({ what: "missing", checkpoint: number, text });
    }
    if (at === undefined) return this.#tell({ what: "missing", text: `what is ${place} cannot be read` });
    const found =
      newest < number
        ? `is missing: the trail was cut back to checkpoint ${newest}`
        : "is another one: the trail was cut back and gone on with, or replaced";
    this.#tell({ what: "missing", checkpoint: number, text: `checkpoint ${number} of ${at}, ${place}, ${found}` });
  }

  #tell(problem: TrailProblem): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }

  #at({ writer, number }: AuditBlock, what: TrailProblem["what"], said: string, event?: number): void {
    const place = `block ${number} of chain ${writer}`;
    this.#tell({ what, writer, block: number, ...(event !== undefined && { event }), text: `${place} ${said}` });
  }

  #gap(writer: string, from: number, to: number, previous?: string): void {
    const gap = { writer, from, to, ...(previous !== undefined && { previous }) };
    if (this.#gaps.length < MAX_PROBLEMS) this.#gaps.push(gap);
    else this.#tellGap(gap);
  }

  #tellGap({ writer, from, to }: Gap): void {
    const place = { writer, block: from, lastBlock: to };
    const checkpoint = this.#promised.get(writer)?.blocks.get(to)?.checkpoint;
    if (from === 0 && !this.#done.has(writer)) {
      const by =
        checkpoint === undefined
          ? `its head says that it had ${to + 1} blocks`
          : `checkpoint ${checkpoint} has seen it`;
      const seen = checkpoint === undefined ? undefined : { checkpoint };
      return this.#tell({ what: "missing", ...place, ...seen, text: `chain ${writer} is gone; ${by}` });
    }
    const blocks =
      from === to ? `block ${from} of chain ${writer} is` : `blocks ${from} to ${to} of chain ${writer} are`;
    this.#tell({ what: "missing", ...place, text: `${blocks} missing` });
  }

  /** A chain of which nothing was read, and which has reached this block. */
  #endWithoutBlocks(writer: string, last: number): void {
    const removed = this.#removed.lastOf(writer);
    if (!this.#done.has(writer) && last > removed) this.#gap(writer, removed + 1, last);
  }

  #chainOf(writer: string) {
    if (this.#chain?.writer === writer) return this.#chain;
    this.#endChain();
    if (this.#done.has(writer))
      this.#tell({ what: "moved", writer, text: `blocks of chain ${writer} stand apart from the others` });
    const edge = this.#removed.edgeOf(writer);
    this.#chain = { writer, next: (edge?.number ?? -1) + 1, previous: edge?.hash ?? "", unchecked: [] };
    return this.#chain;
  }

  /** Which of two blocks that do not fit together is the false one: what is signed is true. */
  #blameLink(block: AuditBlock, before: Seen | undefined): void {
    const isBefore = before && signatureFault(before.hash, before.signature, this.#keys) !== undefined;
    if (isBefore)
      return this.#at({ ...block, number: before.number }, "altered", "was written anew: its signature is not ours");
    const isOurs = signatureFault(block.hash, block.signature, this.#keys) === undefined;
    if (!isOurs) return this.#at(block, "altered", "was written anew: its signature is not ours");
    const what = block.number === 0 ? "altered" : "moved";
    this.#at(
      block,
      what,
      "does not follow the block before it: one of the two was altered, or stands in another's place",
    );
  }

  #blameContent(block: AuditBlock): void {
    const found = alteredEvents(block);
    if (found.length === 0)
      return this.#at(block, "altered", `was altered: its hash is not that of its ${block.count} events`);
    for (const { event, what, text } of found) this.#at(block, what, text, event);
  }

  #keepPromise({ writer, number, hash }: AuditBlock): void {
    const head = this.#heads.get(writer);
    if (head?.number === number && head.hash !== hash) {
      const text = `block ${number} of chain ${writer} is not the one that its head names`;
      this.#tell({ what: "altered", writer, block: number, text });
    }
    const promised = this.#promised.get(writer)?.blocks.get(number);
    if (!promised || promised.hash === hash) return;
    const text = `block ${number} of chain ${writer} is not the one that checkpoint ${promised.checkpoint} has seen`;
    this.#tell({ what: "altered", writer, block: number, checkpoint: promised.checkpoint, text });
  }

  #checkSignatures(writer: string, seen: Seen[]): void {
    const last = seen.at(-1);
    if (last && signatureFault(last.hash, last.signature, this.#keys)) {
      const first = seen.find((one) => signatureFault(one.hash, one.signature, this.#keys)) ?? last;
      const fault = signatureFault(first.hash, first.signature, this.#keys) ?? "wrong signature";
      const what = fault === "unknown key" ? "signature" : "inserted";
      const place = `block ${first.number} of chain ${writer}`;
      const text = `${place} and what follows ${faultText(fault, first.signature)}`;
      this.#tell({ what, writer, block: first.number, lastBlock: last.number, text });
    }
    // The last one stays: the next may not fit to it.
    seen.splice(0, seen.length - 1);
  }

  #endChain(): void {
    const chain = this.#chain;
    if (!chain) return;
    this.#chain = undefined;
    const { writer, next, unchecked } = chain;
    this.#done.add(writer);
    this.#checkSignatures(writer, unchecked);
    const covered = this.#promised.get(writer)?.last ?? -1;
    this.#counts.uncovered += Math.max(0, next - 1 - covered);
    const head = this.#heads.get(writer);
    if (covered >= next) this.#gap(writer, next, covered);
    else if (head && head.number >= next) this.#gap(writer, next, head.number);
  }
}

function faultText(fault: ReturnType<typeof signatureFault>, signature: string): string {
  const id = signature.split(".")[0] ?? "";
  return fault === "unknown key"
    ? `was signed with the key ${JSON.stringify(id.slice(0, 32))}, which is not known here`
    : "was altered: it was not signed by this gateway";
}
