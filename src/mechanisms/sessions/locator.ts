/** Finds sessions that are not known in this process, and takes over those whose home is gone. */
import { GatewayError, type Member } from "../../contract/index.ts";
import type { Session, Voice } from "./session.ts";
import type { Claimed, SessionKeeper, Wanted } from "./session-keeper.ts";

/** Where a session is. */
export type Located =
  | { readonly type: "here"; readonly session: Session }
  | { readonly type: "elsewhere"; readonly home: Member }
  /** Unknown, expired, or somebody else's: nobody learns which. */
  | { readonly type: "nowhere" };

/** What a front does for a session that it takes over. */
export type Rebuilding = {
  readonly voice: Voice;
  /** Resolves when what the session sees is ready. */
  enter(session: Session): Promise<void>;
  /** It can be reached from now on. */
  entered(session: Session): void;
};

/** The sessions that are here. */
export interface Residents {
  find(wanted: Wanted): Session | undefined;
  /** Throws OVERLOADED. */
  rebuild(wanted: Wanted, claimed: Claimed, voice: Voice): Session;
  /** It is served from now on. */
  admit(session: Session, claimed: Claimed): void;
  forget(session: Session): void;
}

const NOWHERE: Located = { type: "nowhere" };
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class Locator {
  readonly #keeper: SessionKeeper;
  readonly #residents: Residents;
  readonly #flights = new Map<string, Promise<Located>>();

  constructor(keeper: SessionKeeper, residents: Residents) {
    this.#keeper = keeper;
    this.#residents = residents;
  }

  /** Whoever asks for the same meanwhile gets the same. Rejects with STATE_UNAVAILABLE. */
  locate(wanted: Wanted, rebuilding: Rebuilding): Promise<Located> {
    if (!ID.test(wanted.id)) return Promise.resolve(NOWHERE);
    const key = `${wanted.id} ${wanted.catalog} ${wanted.principal.id}`;
    const known = this.#flights.get(key);
    if (known !== undefined) return known;
    const flight = this.#locate(wanted, rebuilding).finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }

  async #locate(wanted: Wanted, rebuilding: Rebuilding): Promise<Located> {
    const claimed = await this.#keeper.claim(wanted);
    if (!claimed) return NOWHERE;
    if ("address" in claimed) return { type: "elsewhere", home: claimed };
    const session = this.#residents.find(wanted) ?? (await this.#takeOver(wanted, claimed, rebuilding));
    return { type: "here", session };
  }

  async #takeOver(wanted: Wanted, claimed: Claimed, { voice, enter, entered }: Rebuilding): Promise<Session> {
    const session = this.#residents.rebuild(wanted, claimed, voice);
    try {
      await enter(session);
      // Meanwhile somebody else may have taken it, or this process was taken for dead.
      if (session.isEnded || this.#keeper.member !== claimed.member) throw new GatewayError("STATE_UNAVAILABLE");
    } catch (error) {
      this.#residents.forget(session);
      throw error;
    }
    this.#residents.admit(session, claimed);
    entered(session);
    return session;
  }
}
