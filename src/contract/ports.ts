import type { HeldMessage } from "./byte-budget.ts";
import type { Answer, Ask, Call, CallEvent, CallReply, Life, Target, Verb } from "./call.ts";
import type { GatewayError } from "./error.ts";
import type { MadeCall } from "./made-call.ts";
import type { Notice } from "./notice.ts";
import type { Payload } from "./payload.ts";
import type { ListedKind, Primitive } from "./primitive.ts";
import type { Principal } from "./principal.ts";
import type { Departure, ProviderState, ProviderStatus } from "./provider.ts";
import type { SessionRef } from "./session.ts";

/** Time that only goes forward, in ms. */
export interface Clock {
  now(): number;
}

/** One wheel for the whole process: thousands of deadlines cost no timer each. Fires up to one tick late. */
export interface Timers {
  after(ms: number, fire: () => void): Timer;
}

export interface Timer {
  /** Safe to call twice, and after it fired. */
  cancel(): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** The message is a fixed lower-case phrase; everything variable is a field. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

/** Counts things for /metrics; the names are a closed table (see metrics.ts). */
export interface Meter {
  count(name: import("./metrics.ts").CounterName, label?: string, by?: number): void;
}

/** A piece of work in a trace, when it is over. Times are of everybody's clock, in ms. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** What it passed on its way. */
  readonly events?: readonly { readonly name: string; readonly atMs: number }[];
  /** The code it failed with. */
  readonly error?: string;
};

/** Where finished spans go. Never waits, never throws: what does not fit is dropped and counted. */
export interface Spans {
  add(span: Span): void;
}

/** A primitive as a caller sees it, with its compiled pipeline behind it. */
export interface Entry {
  /** The name in this view; the provider's own is `target.name`. */
  readonly name: string;
  readonly target: Target;
  readonly primitive: Primitive;
  /** URIs that this view shows otherwise than the provider knows them; absent where there are none. */
  readonly uris?: MappedUris | undefined;
  /** The template by which a URI was found that nobody lists. */
  readonly template?: Target | undefined;
  /** Of a template, and of a URI that nobody lists: all templates of its provider, the same objects as long as it offers the same. */
  readonly templates?: readonly Target[] | undefined;
}

/** What it takes to judge what was found: a URI that nobody lists is judged by each template that it fits, too. */
export type FoundTarget = Pick<Entry, "target" | "template" | "templates">;

/** URIs of one provider that another in the view has as well: they are shown with something before them. */
export interface MappedUris {
  /** What stands before them: characters that need no escape in JSON. */
  readonly prefix: string;
  has(uri: string): boolean;
}

/** What one caller may see of one catalog at one moment. Never changes; a change makes a new view. */
export interface View {
  /** Grows when anything in the view changes; equal versions of one catalog are the same view. */
  readonly version: number;
  /** The providers behind it, in file order. */
  readonly providers: readonly ProviderFacts[];
  /** Shows only a part of what its providers offer: what it does not show cannot be reached through it. */
  readonly isPartial?: boolean;
  /** What clients are told instead of the providers' own instructions. */
  readonly instructions?: string | undefined;
  list(kind: ListedKind): ViewList;
  /**
   * By the name this view shows; resources by exact URI, then by template, then by the one provider that owns the scheme.
   * `by`: who wants to call it. What they may not see is on record then.
   */
  resolve(kind: ListedKind, name: string, by?: Principal): Entry | undefined;
  /** Whether the caller may be told what happens to what was resolved; absent: whatever it is. */
  hears?(entry: Entry): boolean;
  /** The same of a URI of a provider, by the provider's own name of it, listed or not. */
  hearsOf?(provider: string, uri: string): boolean;
  /** A target for what has no primitive (an unknown method, a task): the provider itself. */
  raw(provider: string, method: string): Entry | undefined;
}

/** A list as ready text. */
export interface ViewList {
  readonly count: number;
  /** Entries from `from` (inclusive) to `to` (exclusive), joined by commas. */
  slice(from: number, to: number): string;
  /** Further members of the list result, each as `"key":value`, joined by commas; only where one provider stands behind. */
  readonly extras: string;
  /** What has changed since it was first seen, each as `"name":{…}`, joined by commas; unset where nothing has. */
  readonly pins?: string | undefined;
  /** The same entries as callers of an older dialect see them; itself where nothing differs. */
  readonly older: ViewList;
}

export type ProviderFacts = {
  readonly id: string;
  readonly status: ProviderStatus;
  readonly since: string;
  readonly message?: string;
  readonly about?: ProviderState["about"];
};

/** What one caller may reach. Equal keys reach the same, so that callers who may do the same share their views. */
export interface Reach {
  readonly key: string;
  reaches(entry: FoundTarget, catalog: string): boolean;
  /** Whether its callers may be told what happens to it: they could use it as they are. */
  hears(entry: FoundTarget, catalog: string): boolean;
  /** Whether anything of it can be reached. */
  reachesProvider(provider: string, catalog: string): boolean;
  /** Whether methods that nobody here knows may go to a provider; they cannot be judged. */
  readonly hasRaw: boolean;
  /** What is not reached cannot be told from what is not there; otherwise it is found, and refused when it is called. */
  readonly conceals: boolean;
  /** Somebody wanted what is not reached. */
  refused(entry: FoundTarget, catalog: string, by: Principal): void;
}

/** Decides what callers see. Its decisions may change; whoever holds a view does not see that, so none is kept for long. */
export interface Access {
  /** Undefined: everything there is. */
  reachOf(principal: Principal): Reach | undefined;
  /** As `Catalog.tells`, whatever the catalog shows. */
  tells(principal: Principal, call: MadeCall, catalog: string, asked?: "asked"): boolean;
}

/** Why somebody who comes back for a call may not make it, as they are known now; undefined: they may. */
export type ReturnRefusal = (call: Call, by: Principal) => GatewayError | undefined;

export interface Catalog {
  /** For a caller, where one is given: a catalog of which it may not know anything is not there. */
  has(catalog: string, principal?: Principal): boolean;
  /** What this caller may see: in a session that has been entered, or of what everybody is offered. */
  view(catalog: string, principal: Principal, session?: SessionRef): View;
  /**
   * Whether this caller may be told here what has become of this call: it could make the call itself, if its provider offers
   * it just now. `asked`: it wants to know of this one; what it may not know is on record then.
   */
  tells(catalog: string, principal: Principal, call: MadeCall, asked?: "asked"): boolean;
  /** Waits until what this session sees is ready: bounded, so that a slow server delays nobody for long. */
  enter(catalog: string, session?: SessionRef): Promise<void>;
  /** A client lists: providers that do not tell of changes may look whether there are any. Nobody waits for it. */
  listed(catalog: string, session: SessionRef | undefined, kind: ListedKind): void;
  /** The session is over ("ended", unless told otherwise), or goes on in another process. */
  leave(session: SessionRef, reason?: Departure): void;
  /** Passes a client's words outside any call to the providers of its catalog. */
  notify(catalog: string, session: SessionRef, method: string, input: Payload): void;
}

/** What a front asks the kernel to run. */
export type CallOrder = {
  readonly entry: Entry;
  readonly verb: Verb;
  readonly method: string;
  readonly input: Payload;
  readonly principal: Principal;
  readonly session?: SessionRef;
  readonly origin: Call["origin"];
  readonly life: Life;
  readonly parent?: string;
  readonly resumes?: string;
  readonly cancels?: true;
  readonly task?: TaskRecord;
  readonly once?: string;
  readonly mayDefer?: boolean;
  /** The message that the input was cut from; unset: the input counts by itself. */
  readonly held?: HeldMessage;
  /** Instead of the provider's own limit: for calls that wait by nature, such as the result of a task. */
  readonly timeoutMs?: number;
};

/**
 * Takes a run's events. `take` answers false when it is full; it then calls `Attachment.resume` once it has room.
 * `keeps`: what was taken may have to be given again to a reader that comes back (an SSE stream, say).
 */
export interface Reader {
  take(event: CallEvent, cursor: number): boolean;
  readonly keeps: boolean;
  /** Nobody is behind it any more, though it has not left: what it takes is lost. Unset: it does not know. */
  readonly isGone?: boolean;
}

export interface Attachment {
  /** How many events between the given cursor and now are gone for good. */
  readonly missed: number;
  resume(): void;
  /** The reader goes away. A bound run is cancelled by it; any other goes on. */
  detach(): void;
}

/** The kernel's record of a call. */
export interface Run {
  readonly id: string;
  readonly call: Call;
  readonly isEnded: boolean;
  /** Called once, when it has ended and nobody reads it any more: whoever holds it for its reader lets it go. */
  onFinished?: (() => void) | undefined;
  /** Gives the events after `cursor` (-1: all) and then those that come. The former reader is detached. */
  attach(reader: Reader, cursor: number): Attachment;
  reply(reply: CallReply): void;
  /** Gives the call this long from now on: its caller was sent away with a task. */
  extend(ms: number): void;
  /** The caller has moved to another process, where nobody can know how the call ends: it ends as OUTCOME_UNKNOWN. */
  lose(reason: string): void;
  /** `payload`: the caller's own words, as in `CallReply`. */
  cancel(reason?: string, payload?: Payload): void;
}

/** A call that goes on as a task of its provider. Its id is the id of the call that made it. */
export type TaskRecord = MadeCall & {
  readonly id: string;
  readonly principal: Principal;
  /** On the kernel's clock, in ms. */
  readonly expiresAt: number;
  /** The provider's own name for it; never shown to clients. */
  readonly handle?: string;
};

export interface Runs {
  /** Starts a call. Events may reach the reader before this returns. */
  start(order: CallOrder, reader: Reader): Run;
  /** A run that is open, or ended and still kept for readers that come back. */
  find(id: string): Run | undefined;
  /** Known here, or to whichever process made it. Rejects with STATE_UNAVAILABLE. */
  task(id: string): Promise<TaskRecord | undefined>;
  /** Newest first. Rejects with STATE_UNAVAILABLE. */
  tasksOf(principal: Principal): Promise<readonly TaskRecord[]>;
}

/** How the kernel reaches clients outside calls. Implemented by mechanisms/sessions. */
export interface Sessions {
  notice(notice: Notice): void;
  ask(session: SessionRef, ask: Ask, signal: AbortSignal): Promise<Answer>;
}

/** Seals small texts so that only this gateway, or another with the same key, can open them again. */
export interface Keys {
  /** `purpose` and `owner` are bound to the text: it opens only under the same ones. */
  seal(purpose: string, owner: string, text: string): string;
  /** The text, or undefined for anything that was not sealed by us for that purpose and owner. */
  open(purpose: string, owner: string, sealed: string): string | undefined;
}
