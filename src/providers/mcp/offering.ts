/** What the sessions of one slot offer: listed when a session opens and whenever the server says that a list has changed. */
import {
  type Clock,
  type Host,
  LISTED_KINDS,
  type ListedKind,
  type Log,
  type ProviderState,
  type Scope,
} from "../../contract/index.ts";
import { ListAges, tellsChanges } from "./list-age.ts";
import { collectOffers } from "./listing.ts";
import { failureOf } from "./mcp-errors.ts";
import { createRelister } from "./relister.ts";
import type { TaskTools } from "./tasks/task-tools.ts";
import type { UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type OfferingOptions = {
  readonly scope: Scope;
  readonly host: Host;
  readonly log: Log;
  readonly clock: Clock;
  /** How old a list may be of whose changes nobody tells us. */
  readonly listTtlMs: number;
  readonly taskTools: TaskTools;
  /** The session to ask; what a former one answers is not told any more. */
  current(): UpstreamSession | undefined;
  onState(state: ProviderState): void;
  /** The server would not be listed because of the session, not because of the list. */
  onTrouble(session: UpstreamSession, failure: UpstreamFailure): void;
};

export class Offering {
  readonly #options: OfferingOptions;
  readonly #relist: (kinds: readonly ListedKind[]) => Promise<void>;
  readonly #ages: ListAges;
  #listed: Promise<void> = Promise.resolve();
  #lastState: ProviderState | undefined;
  #isListing = false;

  constructor(options: OfferingOptions) {
    this.#options = options;
    this.#ages = new ListAges(options.listTtlMs);
    this.#relist = createRelister(async (kinds) => {
      this.#isListing = true;
      await this.#list(kinds);
      this.#isListing = false;
    });
  }

  /** Resolves when everything has been offered or has failed once since the last `begin`. */
  get listed(): Promise<void> {
    return this.#listed;
  }

  /** A session has been opened. */
  begin(): void {
    this.#listed = this.#relist(LISTED_KINDS);
  }

  /** Resolves when these have been read again. */
  change(kinds: readonly ListedKind[]): Promise<void> {
    return this.#relist(kinds);
  }

  /** Somebody looks at this list: it is read again if it is old and the server would not have told of a change. */
  refresh(kind: ListedKind): void {
    const session = this.#options.current();
    if (!session || this.#isListing || !this.#ages.isStale(kind, this.#options.clock.now())) return;
    const { failed } = this.#ages;
    if (failed.size > 0 || !tellsChanges(session, kind)) void this.#relist([kind, ...failed]);
  }

  /** Says a state once, however often the server is listed in it. */
  tell(state: ProviderState): void {
    const { status, message, about } = state;
    const last = this.#lastState;
    if (last?.status === status && last.message === message && last.about?.capabilities === about?.capabilities) return;
    this.#lastState = state;
    this.#options.onState(state);
  }

  async #list(kinds: readonly ListedKind[]): Promise<void> {
    const { host, log, scope, clock, taskTools } = this.#options;
    const session = this.#options.current();
    if (!session?.agreement) return;
    const { capabilities, instructions } = session.agreement;
    this.#ages.reading(kinds, clock.now());
    try {
      const request = session.request.bind(session);
      const { offers: listed, refused } = await collectOffers({ capabilities, log, request }, kinds);
      if (this.#options.current() !== session) return;
      this.#ages.read(listed, clock.now());
      const shown = session.modern?.tools.learn(listed, session.transport.hasStreams) ?? listed;
      const offers = taskTools.learn(shown, session);
      if (offers.length > 0) host.offer(scope, offers);
      const about = { capabilities, ...(instructions === undefined ? {} : { instructions }) };
      if (refused.length > 0) this.tell({ status: "invalid", message: refused.join("; "), about });
      else this.tell({ status: "ok", about });
    } catch (error) {
      if (this.#options.current() === session) this.#listingFailed(session, failureOf(error));
    }
  }

  #listingFailed(session: UpstreamSession, failure: UpstreamFailure): void {
    this.#options.log.warn("server could not be listed", { reason: failure.message, cause: failure.cause });
    if (failure.kind === "expired" || failure.kind === "auth") this.#options.onTrouble(session, failure);
    else this.tell({ status: "invalid", message: failure.message });
  }
}
