/** What operators look at and do to the gateway itself, beside what each mechanism brings. */
import type { AuditTrail, EventFeed, Operation } from "../../contract/index.ts";
import type { Ports } from "../extensions.ts";
import type { AddedByOperators } from "./added-by-operators.ts";
import type { LiveParts } from "./live-parts.ts";
import { aboutOperations } from "./own-operations/about-operations.ts";
import { callOperations } from "./own-operations/call-operations.ts";
import { catalogOperations } from "./own-operations/catalog-operations.ts";
import { serverOperations } from "./own-operations/server-operations.ts";
import { sessionOperations } from "./own-operations/session-operations.ts";
import { WordsToAll } from "./words-to-all.ts";

export type OwnOperationsOptions = Ports & {
  readonly live: LiveParts;
  readonly trail: () => AuditTrail;
  readonly feed: EventFeed;
  readonly added: AddedByOperators;
};

export type OwnOperations = {
  readonly operations: readonly Operation[];
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createOwnOperations({ clock, live, trail, feed, added }: OwnOperationsOptions): OwnOperations {
  const words = new WordsToAll(live);
  const parts = { live, clock, trail, tellAll: words.tell };
  return {
    get operations() {
      return [
        ...aboutOperations({ live, trail, feed }),
        ...sessionOperations(parts),
        ...callOperations(parts),
        ...serverOperations({ live, added, trail }),
        ...catalogOperations({ live, added, trail }),
      ];
    },
    open: () => words.open(),
    close: () => words.close(),
  };
}
