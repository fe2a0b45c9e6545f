/**
 * What clients are told of a resource that has changed. Made once for all who know it by the same name: a server may say a
 * megabyte, and thousands may hear it.
 */
import { jsonText, type Notice, type Payload, payload } from "../../contract/index.ts";

export type ToldUpdate = {
  /** All that the server said. */
  readonly params: Payload;
  /** For whoever is not there to hear all of it: which resource it is. */
  readonly brief: Payload;
};

const TOLD = new WeakMap<Notice, Map<string, ToldUpdate>>();

export function toldUpdate(notice: Notice, uri: string, shown: string): ToldUpdate {
  const told = TOLD.get(notice) ?? new Map<string, ToldUpdate>();
  TOLD.set(notice, told);
  const known = told.get(shown);
  if (known) return known;
  const params = shown === uri ? notice.payload : notice.payload.splice(["uri"], jsonText(shown));
  const update = { params, brief: payload(`{"uri":${jsonText(shown)}}`) };
  told.set(shown, update);
  return update;
}
