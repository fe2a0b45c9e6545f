/** What the sessions of one slot offer: listed when a session opens and whenever the server says that a list has changed. */
import {
  type Clock,
  type Effort,
  type Host,
  LISTED_KINDS,
  type ListedKind,
  type Log,
  type Offer,
  type ProviderState,
  type Scope,
  type Slices,
  type Steps,
  type Timers,
} from "../../contract/index.ts";
import { factsIn, withoutHome } from "./home-facts.ts";
import { ListAges, tellsChanges } from "./list-age.ts";
import type { ListMemory } from "./list-memory.ts";
import type { Room } from "./list-page.ts";
import { collectOffers } from "./listing.ts";
import { failureOf } from "./mcp-errors.ts";
import { Relister } from "./relister.ts";
import type { TaskTools } from "./tasks/task-tools.ts";
import type { UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type OfferingOptions = {
  readonly scope: Scope;
  readonly host: Host;
  readonly log: Log;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly slices: Slices;
  /** How much of one list is read. */
  readonly bounds: Room;
  /** What was listed here before. It is kept elsewhere, and may outlive this. */
  readonly memory: ListMemory;
  /** How old a list may be of whose changes nobody tells us. */
  readonly listTtlMs: number;
  readonly taskTools: TaskTools;
  /** The session to ask; what a former one answers is not told any more. */
  current(): UpstreamSession | undefined;
  onState(state: ProviderState): void;
  /** The server would not be listed because of the session, not because of the list. */
  onTrouble(session: UpstreamSession, failure: UpstreamFailure): void;
};

/** Why a list was not read that says nothing about the list. */
const SESSION_TROUBLE: readonly UpstreamFailure["kind"][] = ["expired", "auth", "unreachable"];

/** What is offered of what was listed, with what clients have to know of it. */
function* learnFrom(read: readonly Offer[], session: UpstreamSession, taskTools: TaskTools): Steps<readonly Offer[]> {
  const { modern } = session;
  const listed = session.context.isHome ? withoutHome(read) : read;
  return yield* taskTools.learn(modern ? yield* modern.tools.learn(listed) : listed, session);
}

export class Offering {
  readonly #options: OfferingOptions;
  readonly #relister: Relister;
  readonly #ages: ListAges;
  /** What was read last in this session: what is the same is not offered again. */
  readonly #offered = new Map<ListedKind, Offer>();
  #listed: Promise<void> = Promise.resolve();
  #lastState: ProviderState | undefined;

  constructor(options: OfferingOptions) {
    this.#options = options;
    this.#ages = new ListAges(options.listTtlMs);
    const { clock, timers } = options;
    this.#relister = new Relister({ clock, timers, list: (kinds, effort) => this.#list(kinds, effort) });
  }

  /** Resolves when everything has been offered or has failed once since the last `begin`. */
  get listed(): Promise<void> {
    return this.#listed;
  }

  /** A session has been opened. */
  begin(): void {
    this.#offered.clear();
    this.#relister.hurry();
    this.#listed = this.#relister.want(LISTED_KINDS);
  }

  /** Resolves when these have been read again. */
  change(kinds: readonly ListedKind[]): Promise<void> {
    return this.#relister.want(kinds);
  }

  /** Somebody looks at this list: it is read again if it is old and the server would not have told of a change. */
  refresh(kind: ListedKind): void {
    const session = this.#options.current();
    if (!session || this.#relister.isListing || !this.#ages.isStale(kind, this.#options.clock.now())) return;
    const { failed } = this.#ages;
    if (failed.size > 0 || !tellsChanges(session, kind)) void this.#relister.want([kind, ...failed]);
  }

  /** Says a state once, however often the server is listed in it. */
  tell(state: ProviderState): void {
    const { status, message, about } = state;
    const last = this.#lastState;
    if (last?.status === status && last.message === message && last.about?.capabilities === about?.capabilities) return;
    this.#lastState = state;
    this.#options.onState(state);
  }

  async #list(kinds: readonly ListedKind[], effort: Effort): Promise<void> {
    const { log, clock, slices, bounds, memory } = this.#options;
    const session = this.#options.current();
    if (!session?.agreement) return;
    const { capabilities, instructions, version } = session.agreement;
    this.#ages.reading(kinds, clock.now());
    try {
      const request = session.requestPage.bind(session);
      const { isHome } = session.context;
      const listing = { capabilities, log, memory, bounds, slices, effort, request };
      const { offers: listed, refused } = await collectOffers(listing, kinds);
      if (this.#options.current() !== session) return;
      this.#ages.read(listed, clock.now());
      if (isHome) session.home = factsIn(listed, session.context.declarations) ?? session.home;
      await this.#offer(listed, session, effort);
      if (this.#options.current() !== session) return;
      const about = { capabilities, protocol: version, ...(instructions === undefined ? {} : { instructions }) };
      if (refused.length > 0) this.tell({ status: "invalid", message: refused.join("; "), about });
      else if (session.home) this.tell({ ...this.#leftOut(), ...session.home });
      else this.tell({ status: "ok", ...this.#leftOut(), about });
    } catch (error) {
      if (this.#options.current() === session) this.#listingFailed(session, failureOf(error));
    }
  }

  #leftOut(): Pick<ProviderState, "message"> {
    const { cuts } = this.#options.memory;
    if (cuts.length === 0) return {};
    return { message: cuts.map(({ method, reason }) => `${method} is cut short: ${reason}`).join("; ") };
  }

  /** Of what is the same as before nothing has to be told to anybody. */
  async #offer(listed: readonly Offer[], session: UpstreamSession, effort: Effort): Promise<void> {
    const { host, scope, taskTools, slices } = this.#options;
    const news = listed.filter((offer) => this.#offered.get(offer.kind) !== offer);
    if (news.length === 0) return;
    const offers = await slices.run(learnFrom(news, session, taskTools), effort);
    if (this.#options.current() !== session) return;
    await host.offer(scope, offers, effort);
    for (const offer of news) this.#offered.set(offer.kind, offer);
  }

  #listingFailed(session: UpstreamSession, failure: UpstreamFailure): void {
    this.#options.log.warn("server could not be listed", { reason: failure.message, cause: failure.cause });
    if (failure.kind === "unreachable") this.tell({ status: "unreachable", message: failure.message });
    if (SESSION_TROUBLE.includes(failure.kind)) this.#options.onTrouble(session, failure);
    else this.tell({ status: "invalid", message: failure.message });
  }
}
