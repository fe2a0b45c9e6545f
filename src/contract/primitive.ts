import type { Payload } from "./payload.ts";

export type Kind = "tool" | "resource" | "template" | "prompt" | "agent" | "operation";

/** The kinds that clients list, in the order views are built. */
export const LISTED_KINDS = ["tool", "resource", "template", "prompt"] as const satisfies readonly Kind[];
export type ListedKind = (typeof LISTED_KINDS)[number];

/** Something that can be called, as its provider offers it. */
export type Primitive = {
  readonly kind: Kind;
  /** The provider's own name: a tool's or prompt's name, a resource's URI, a template's URI template. */
  readonly name: string;
  /** The list entry as the provider wrote it. */
  readonly definition: Payload;
  /** Repeating the call does no harm: it only reads, or is declared idempotent. Decides what may be retried. */
  readonly repeatable: boolean;
  /** Whether and how a call on it can outlast its caller, as a task. */
  readonly outlasts?: Outlasting;
  /** The list entry as callers of an older dialect see it, where that differs. */
  readonly older?: Payload;
};

/**
 * own: the provider has tasks that clients of its dialect ask it about;
 * told: the provider says so when it has made one, and sees it through to its end;
 * slow: it merely takes long, and the operator lets the gateway make a task of that.
 */
type Outlasting = "own" | "told" | "slow";

/** Everything of one kind that a provider offers to one scope. A new offer replaces the former one whole. */
export type Offer = {
  readonly kind: ListedKind;
  readonly primitives: readonly Primitive[];
  /** Members of the list result beside the entries themselves (`"key":value` texts joined by commas), kept for lists of one provider. */
  readonly extras: string;
  /** What is not as it was when it was first seen, by the provider's own name; put there by whoever watches over that. */
  readonly pins?: ReadonlyMap<string, PinRemark>;
};

/** What is to be said about a primitive whose definition has changed, or cannot be compared with anything. */
export type PinRemark = {
  /** held: it is not shown and cannot be called until somebody accepts it. */
  readonly status: "changed" | "held";
  readonly since: string;
  /** Which of its members have changed. */
  readonly what: readonly string[];
  /** The name it was known under, where that is what has changed. */
  readonly was?: string;
};

/** Whom an offer is for: everybody, or the one session that has an upstream session of its own. */
export type Scope = "shared" | `session:${string}`;
