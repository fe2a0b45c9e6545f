import type { Json } from "../sdk.ts";

type Stored = { readonly id: string; readonly streamId: string; readonly message: Json };

/** Remembers every event of one session, so that a closed stream can be resumed. Dies with the session. */
export function createEventStore() {
  const events: Stored[] = [];

  function find(id: string): number {
    return events.findIndex((event) => event.id === id);
  }

  return {
    async storeEvent(streamId: string, message: Json): Promise<string> {
      const id = `${streamId}_${events.length}`;
      events.push({ id, streamId, message });
      return id;
    },

    async getStreamIdForEventId(id: string): Promise<string | undefined> {
      return events[find(id)]?.streamId;
    },

    /** Sends what came after `lastId` on the same stream. */
    async replayEventsAfter(lastId: string, { send }: { send(id: string, message: Json): Promise<void> }) {
      const from = find(lastId);
      const streamId = events[from]?.streamId ?? "";
      for (const event of events.slice(from + 1)) {
        // A priming event is stored as an empty message and is not repeated.
        if (event.streamId !== streamId || Object.keys(event.message).length === 0) continue;
        await send(event.id, event.message);
      }
      return streamId;
    },
  };
}
