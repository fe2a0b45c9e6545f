/**
 * Which clients hear of what happens outside their calls. Thousands may: they are told in slices, one notice after the other, so
 * that each client hears of everything in the order in which it was said.
 */
import type { Log, Meter, Notice, Slices, Steps } from "../../contract/index.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { Subscribers } from "./subscribers.ts";

export type NoticesOptions = {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly subscribers: Subscribers;
  readonly outboxOf: (session: Session) => Outbox;
  readonly meter: Meter;
  readonly log: Log;
  readonly slices: Slices;
};

/** What may wait until those are through that came before. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export class Notices {
  readonly #options: NoticesOptions;
  #waiting: Notice[] = [];
  #waitingBytes = 0;
  #isGiving = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** They are told at once where that is short work and nothing waits. */
  give(notice: Notice): void {
    this.#wait(notice);
    if (!this.#isGiving) void this.#giveAll();
  }

  #wait(notice: Notice): void {
    const isSame = "resource" in notice.to ? sameUpdate(notice, notice.to.resource) : () => false;
    const former = this.#waiting.findIndex(isSame);
    if (former >= 0) this.#takeOut(former);
    this.#waiting.push(notice);
    this.#waitingBytes += notice.payload.text.length;
    while (this.#waiting.length > 1 && (this.#waiting.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES)) {
      this.#takeOut(this.#oldestTold());
      this.#options.meter.count("isthmus_notices_dropped_total", "too many");
    }
  }

  /** Of changed lists there is nothing else that would tell. */
  #oldestTold(): number {
    return Math.max(
      this.#waiting.findIndex(({ to }) => !("catalog" in to)),
      0,
    );
  }

  #takeOut(index: number): Notice | undefined {
    const [notice] = this.#waiting.splice(index, 1);
    this.#waitingBytes -= notice?.payload.text.length ?? 0;
    return notice;
  }

  async #giveAll(): Promise<void> {
    this.#isGiving = true;
    for (let next = this.#takeOut(0); next; next = this.#takeOut(0)) {
      try {
        const giving = this.#options.slices.run(this.#stepsOf(next));
        if (giving instanceof Promise) await giving;
      } catch (cause) {
        this.#options.log.error("a notice failed inside the gateway", { from: next.from, cause });
      }
    }
    this.#isGiving = false;
  }

  *#stepsOf(notice: Notice): Steps<void> {
    const { to } = notice;
    const { sessions, subscribers, meter } = this.#options;
    if ("catalog" in to) return yield* this.#listChanged(notice, to.session);
    if ("session" in to) {
      const session = sessions.get(to.session);
      if (!session) return meter.count("isthmus_notices_dropped_total", "no session");
      return this.#tell(session, notice);
    }
    const meant = "resource" in to ? subscribers.of(notice.from, to.resource) : sessions.values();
    for (const session of meant) {
      if ("resource" in to || session.principal.id === to.principal) this.#tell(session, notice);
      yield;
    }
  }

  *#listChanged(notice: Notice, only: string | undefined): Steps<void> {
    const { sessions, outboxOf } = this.#options;
    const one = only === undefined ? undefined : sessions.get(only);
    for (const session of only === undefined ? sessions.values() : one ? [one] : []) {
      for (const item of session.voice.listChanged(session, notice)) outboxOf(session).push(item);
      yield;
    }
  }

  #tell(session: Session, notice: Notice): void {
    if (session.isEnded) return;
    const item = session.voice.notice(session, notice);
    if (item) this.#options.outboxOf(session).push(item);
  }
}

/** Of the same resource: the last word of its server counts. */
function sameUpdate({ from, method }: Notice, uri: string): (other: Notice) => boolean {
  return (other) =>
    other.from === from && other.method === method && "resource" in other.to && other.to.resource === uri;
}
