/** Which clients hear of what happens outside their calls. */
import type { Meter, Notice } from "../../contract/index.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { Subscribers } from "./subscribers.ts";

export type NoticesOptions = {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly subscribers: Subscribers;
  readonly outboxOf: (session: Session) => Outbox;
  readonly meter: Meter;
};

export class Notices {
  readonly #options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  give(notice: Notice): void {
    const { to } = notice;
    const { sessions, subscribers, meter } = this.#options;
    if ("catalog" in to) return this.#listChanged(notice, to.session);
    if ("session" in to) {
      const session = sessions.get(to.session);
      if (!session) return meter.count("isthmus_notices_dropped_total", "no session");
      return this.#tell(session, notice);
    }
    if ("resource" in to) {
      for (const session of subscribers.of(notice.from, to.resource)) this.#tell(session, notice);
      return;
    }
    for (const session of sessions.values()) if (session.principal.id === to.principal) this.#tell(session, notice);
  }

  #listChanged(notice: Notice, only: string | undefined): void {
    const { sessions, outboxOf } = this.#options;
    const one = only === undefined ? undefined : sessions.get(only);
    for (const session of only === undefined ? sessions.values() : one ? [one] : []) {
      for (const item of session.voice.listChanged(session, notice)) outboxOf(session).push(item);
    }
  }

  #tell(session: Session, notice: Notice): void {
    const item = session.voice.notice(session, notice);
    if (item) this.#options.outboxOf(session).push(item);
  }
}
