import type { Decision, Evidence } from "./decision.ts";
import type { GatewayError } from "./error.ts";
import type { Payload } from "./payload.ts";
import type { TaskRecord } from "./ports.ts";
import type { Kind } from "./primitive.ts";
import type { Principal } from "./principal.ts";
import type { SessionRef } from "./session.ts";

/** In `_meta`; over HTTP the header `Idempotency-Key` says the same. It is ours: no server gets to see it. */
export const ONCE_KEY = "dev.isthmus/idempotencyKey";

export type Target = { readonly provider: string; readonly kind: Kind; readonly name: string };

export type Verb = "call" | "read" | "get" | "complete" | "subscribe" | "raw";

/**
 * What happens when the reader of a run goes away:
 * bound: the call is cancelled; resumable: it goes on and waits for a reader; detached: nobody needs to read.
 */
export type Life = "bound" | "resumable" | "detached";

/** Where a call came from. `traceparent`: the trace that its transport names, as the client wrote it. */
export type Origin = {
  readonly front: string;
  readonly protocol: string;
  readonly requestId: string;
  readonly traceparent?: string;
  /** Of the client, where the operator wants it told. */
  readonly address?: string;
  /** By which a gateway before us tells its callers apart; unset: it is none, or has not said. */
  readonly requester?: string;
};

export interface Call {
  readonly id: string;
  readonly target: Target;
  /** The template by which a URI was found that nobody lists: the call is judged by both. */
  readonly template?: Target;
  /** As its entry has them: a URI that nobody lists is judged by each that it fits. */
  readonly templates?: readonly Target[];
  readonly verb: Verb;
  readonly method: string;
  readonly input: Payload;
  readonly principal: Principal;
  readonly session: SessionRef | undefined;
  readonly origin: Origin;
  /** On the kernel's clock, in ms. */
  readonly deadline: number;
  /** Made by a meta-tool, composite, fallback or delegation: runs its own full pipeline. */
  readonly parent?: string;
  /** Another call's run that this one speaks about: the task it polls, the question it answers. */
  readonly resumes?: string;
  /** It wants the run that `resumes` names to end. */
  readonly cancels?: true;
  /** What is known of the task that `resumes` names: its provider may have forgotten it with its last process. */
  readonly task?: TaskRecord;
  /** The caller's own name for this call, with its session where it has one: the call is made once under it. */
  readonly once?: string;
  /** The caller can be sent away with a task: a provider that makes one of the call says so with `keepMs`. */
  readonly mayDefer?: boolean;
  readonly life: Life;
  /** What access has said about it, where that is `confirm`: somebody must say yes before it is made. */
  readonly confirm?: Decision;
  /** By which evidence somebody has said yes to it; unset: it has used no yes. */
  readonly approvedBy?: Evidence;
  /** For a stage that asks its caller something before the call is made, or must know of its end before the caller does. */
  readonly run?: StagedRun | undefined;
  /** When it passed what; grows while the call runs. */
  readonly timing?: Timing;
  /** Aborts on cancel, deadline and shutdown. Made when first asked for: most calls never need it. */
  readonly signal: AbortSignal;
}

/** The stages of a call's pipeline and when the call came to each, on the kernel's clock in ms. */
export interface Timing {
  /** In order; the last is the dispatch to the provider. */
  readonly stages: readonly string[];
  readonly entered: readonly number[];
  /** When it had a slot of its provider; 0 before that. */
  readonly sentAt: number;
  /** When the provider first said something; 0 before that. */
  readonly firstAt: number;
  /** How often it was lost with its provider and sent again. */
  readonly repeats: number;
}

export interface StagedRun {
  /** Where the answers to a stage's own questions come. Until they have, nobody else gets any of this call. */
  onAnswers: ((answers: readonly Answer[]) => void) | undefined;
  /** Whether anybody takes what the call says at the moment. A client that has gone may come back; a task is read by who keeps it. */
  readonly isRead: boolean;
  /**
   * Set by a stage: asked before each sending of a call that had to wait, in line or in a stage, or was lost with its provider. Why it
   * may not be sent any more; undefined: it may.
   */
  beforeSending?: (() => Promise<GatewayError | undefined>) | undefined;
  /** Told before its caller is when the run ends without its stages, which may still hold what they know of it. */
  witness: { ending(error: GatewayError): void } | undefined;
  /**
   * Set from when the call is broken off, or goes on as a task of its provider: resolves when the provider is through with it,
   * or was cut off. Whoever looks at it is to hold what the call has taken until then.
   */
  readonly lingering: Promise<void> | undefined;
}

/**
 * Gives back what the call holds as long as its provider works on it: now, where its pipeline is through, or as soon as the
 * provider lets go of a call that was broken off.
 */
export function onceLetGo({ run }: Call, giveBack: () => void): void {
  const lingering = run?.lingering;
  if (lingering !== undefined) void lingering.then(giveBack);
  else giveBack();
}

/** The same call with another input. */
export function withInput(call: Call, input: Payload): Call {
  return changedCall(call, { input });
}

/** The same call with something else about it. */
export function changedCall(
  call: Call,
  changes: Partial<Pick<Call, "input" | "deadline" | "confirm" | "approvedBy" | "origin" | "principal">>,
): Call {
  return {
    ...call,
    ...changes,
    get signal() {
      return call.signal;
    },
  };
}

export type AskKind = "elicit" | "sample" | "roots" | "confirm" | "raw";

/** A question to whoever made the call. `key` is unique within the run and is what the answer refers to. */
export type Ask = { readonly key: string; readonly kind: AskKind; readonly method: string; readonly input: Payload };

/** As many questions may wait for one client at once, of one call or of one provider: nobody answers more. */
export const MAX_OPEN_ASKS = 64;

export type Answer = { readonly key: string; readonly outcome: "result" | "fault"; readonly payload: Payload };

export type CallState = "submitted" | "working" | "input-required" | "degraded" | "polling";

export type TaskEnding = "completed" | "failed" | "cancelled";

export type CallEvent =
  /**
   * polling: the provider hung up and will be asked again after `retryMs`; a reader may be sent away to do the same.
   * `keepMs`: the provider sees the call through as a task of its own, for that long; it holds no slot meanwhile.
   */
  | {
      readonly type: "status";
      readonly state: CallState;
      readonly message?: string;
      readonly retryMs?: number;
      readonly keepMs?: number;
    }
  | { readonly type: "progress"; readonly payload: Payload }
  | { readonly type: "chunk"; readonly payload: Payload }
  | { readonly type: "artifact"; readonly payload: Payload }
  | { readonly type: "log"; readonly payload: Payload }
  | { readonly type: "ask"; readonly asks: readonly Ask[] }
  /** A notification on this call's stream that we do not know. `key`: it speaks about that ask. */
  | { readonly type: "notice"; readonly method: string; readonly payload: Payload; readonly key?: string }
  /**
   * fault: the provider's own error, verbatim. task: it goes on as a task that bears this call's id for `ttlMs`; `handle`
   * is the provider's own name for it, by which it finds it again. `endsTask`: the task that this call was about is over, and how.
   */
  | {
      readonly type: "end";
      readonly outcome: "result" | "fault" | "input" | "task";
      readonly payload: Payload;
      readonly ttlMs?: number;
      readonly handle?: string;
      readonly endsTask?: TaskEnding;
    }
  | { readonly type: "error"; readonly error: GatewayError };

export type CallReply =
  | { readonly type: "answer"; readonly answers: readonly Answer[] }
  | { readonly type: "notice"; readonly method: string; readonly payload: Payload; readonly key?: string }
  /**
   * `payload`: the caller's own words, which a provider of the same dialect relays. `holdMs`: so long it counts at most that the
   * provider may still work on the call; unset: a few seconds.
   */
  | { readonly type: "cancel"; readonly reason?: string; readonly payload?: Payload; readonly holdMs?: number };

/** Where a call's events go. */
export interface Out {
  /** False: the reader is behind. A provider whose stream carries only this call pauses it until `ready`. */
  write(event: CallEvent): boolean;
  ready(): Promise<void>;
}

export type Next = (call: Call, out: Out) => Promise<void>;

/** One moment in the life of a call. Wraps `out` only to see events. */
export type Stage = (call: Call, out: Out, next: Next) => Promise<void>;
