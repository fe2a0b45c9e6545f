import type { CallEvent, MappedUris, Out, Stage } from "../contract/index.ts";
import { mapNotice, mapResult } from "./uri-links.ts";

const UPDATED = "notifications/resources/updated";

/** Shows mapped URIs in what a server says: only calls on servers that have any go through here. */
export function uriStage(uris: MappedUris): Stage {
  return function mapUris(call, out, next) {
    const mapped: Out = {
      write: (event) => out.write(mapEvent(event, uris)),
      ready: () => out.ready(),
    };
    return next(call, mapped);
  };
}

function mapEvent(event: CallEvent, uris: MappedUris): CallEvent {
  if (event.type === "end" && event.outcome === "result") return { ...event, payload: mapResult(event.payload, uris) };
  if (event.type === "notice" && event.method === UPDATED) return { ...event, payload: mapNotice(event.payload, uris) };
  return event;
}
