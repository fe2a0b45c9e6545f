/** A host that remembers what a provider told it, and what a test needs to call a provider without a kernel. */
import {
  type Answer,
  type Ask,
  type Call,
  type CallEvent,
  type Clock,
  GatewayError,
  type Host,
  type ListedKind,
  type Log,
  type Meter,
  type Notice,
  type Offer,
  type Out,
  type ProviderState,
  payload,
  type Scope,
  type SessionRef,
  type Timers,
  textOf,
} from "../../src/contract/index.ts";

export class FakeHost implements Host {
  readonly states: ProviderState[] = [];
  readonly notices: Notice[] = [];
  readonly asks: { session: SessionRef; ask: Ask; signal: AbortSignal }[] = [];
  readonly offers = new Map<Scope, Map<ListedKind, Offer>>();
  offerCount = 0;
  /** What a client would answer outside any call. */
  answer: (ask: Ask) => Promise<Answer> = () => Promise.reject(new GatewayError("NOT_ALLOWED"));

  offer(scope: Scope, offers: readonly Offer[]): void {
    this.offerCount++;
    if (offers.length === 0) this.offers.delete(scope);
    const kinds = this.offers.get(scope) ?? new Map<ListedKind, Offer>();
    for (const offer of offers) kinds.set(offer.kind, offer);
    if (offers.length > 0) this.offers.set(scope, kinds);
  }

  notice(notice: Notice): void {
    this.notices.push(notice);
  }

  ask(session: SessionRef, ask: Ask, signal: AbortSignal): Promise<Answer> {
    this.asks.push({ session, ask, signal });
    return this.answer(ask);
  }

  state(state: ProviderState): void {
    this.states.push(state);
  }

  get status(): string | undefined {
    return this.states.at(-1)?.status;
  }

  names(kind: ListedKind, scope: Scope = "shared"): string[] {
    return (this.offers.get(scope)?.get(kind)?.primitives ?? []).map((primitive) => primitive.name);
  }
}

/** Collects a call's events. `isFull` makes it answer false until `drain`. */
export class FakeOut implements Out {
  readonly events: CallEvent[] = [];
  isFull = false;
  onEvent: (event: CallEvent) => void = () => undefined;
  #ready = Promise.withResolvers<void>();

  write(event: CallEvent): boolean {
    this.events.push(event);
    this.onEvent(event);
    return !this.isFull;
  }

  ready(): Promise<void> {
    return this.isFull ? this.#ready.promise : Promise.resolve();
  }

  drain(): void {
    this.isFull = false;
    this.#ready.resolve();
    this.#ready = Promise.withResolvers();
  }

  get ends(): CallEvent[] {
    return this.events.filter((event) => event.type === "end" || event.type === "error");
  }

  /** The parsed payload of the end. */
  get result(): unknown {
    const end = this.ends[0];
    return end?.type === "end" ? end.payload.value() : undefined;
  }
}

export const monotonicClock: Clock = { now: () => performance.now() };

export const nodeTimers: Timers = {
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };

export class FakeMeter implements Meter {
  readonly counts = new Map<string, number>();

  count(name: string, label = "", by = 1): void {
    const key = `${name} ${label}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + by);
  }
}

export type SessionParts = Partial<Omit<SessionRef, "capabilities" | "clientInfo">> & { capabilities?: object };

export function fakeSession(id: string, parts: SessionParts = {}): SessionRef {
  const { capabilities = {}, ...rest } = parts;
  return {
    id,
    principal: { id: `user-of-${id}` },
    catalog: "",
    protocol: "test",
    capabilities: payload(textOf(JSON.stringify(capabilities))),
    clientInfo: payload('{"name":"test-client","version":"1"}'),
    canBeAsked: "elicitation" in capabilities || "sampling" in capabilities || "roots" in capabilities,
    isEphemeral: false,
    ...rest,
  };
}

export type CallParts = Partial<Omit<Call, "input">> & { input?: object };

let nextCall = 1;

export function fakeCall(parts: CallParts = {}): Call {
  const { input = {}, ...rest } = parts;
  return {
    id: `call-${nextCall++}`,
    target: { provider: "test", kind: "tool", name: "echo" },
    verb: "call",
    method: "tools/call",
    input: payload(textOf(JSON.stringify(input))),
    principal: rest.session?.principal ?? { id: "someone" },
    session: undefined,
    origin: { front: "test", protocol: "test", requestId: "1" },
    deadline: performance.now() + 30_000,
    life: "resumable",
    signal: new AbortController().signal,
    ...rest,
  };
}

/** A call of a tool by name. */
export function toolCall(name: string, args: object = {}, parts: CallParts = {}): Call {
  const { input, ...rest } = parts;
  return fakeCall({
    target: { provider: "test", kind: "tool", name },
    input: { name, arguments: args, ...input },
    ...rest,
  });
}
