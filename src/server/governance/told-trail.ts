import type { AuditEvent, AuditTrail, EventFeed, FeedEvent } from "../../contract/index.ts";
import { plainEvent } from "../../mechanisms/audit/index.ts";

/** The trail, and everybody who listens to what is put on it. Costs nothing while nobody does. */
export function toldTrail(trail: AuditTrail): { readonly trail: AuditTrail; readonly feed: EventFeed } {
  const listeners = new Set<(event: FeedEvent) => void>();
  const tell = (given: AuditEvent) => {
    const event = plainEvent(given);
    const told = {
      type: event.type,
      tenant: event.tenant,
      json: JSON.stringify({ at: new Date().toISOString(), ...event }),
    };
    for (const hear of listeners) hear(told);
  };
  return {
    trail: {
      note(event) {
        trail.note(event);
        if (listeners.size > 0) tell(event);
      },
      async commit(event, changes) {
        const isWritten = await trail.commit(event, changes);
        if (isWritten && listeners.size > 0) tell(event);
        return isWritten;
      },
    },
    feed: {
      listen(hear) {
        listeners.add(hear);
        return () => void listeners.delete(hear);
      },
    },
  };
}

/** Whoever listens hears both. */
export function joinFeeds(...feeds: readonly EventFeed[]): EventFeed {
  return {
    listen(hear) {
      const stops = feeds.map((feed) => feed.listen(hear));
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
