/** What operators look at and do to the gateway itself, beside what each mechanism brings. */
import type { AuditTrail, EventFeed, Operation } from "../../contract/index.ts";
import type { Ports } from "../extensions.ts";
import type { AddedByOperators } from "./added-by-operators.ts";
import type { LiveParts } from "./live-parts.ts";
import type { Kept } from "./own-operations/about-operations.ts";
import { WordsToAll } from "./words-to-all.ts";

export type OwnOperationsOptions = Ports & {
  readonly live: LiveParts;
  readonly trail: () => AuditTrail;
  readonly feed: EventFeed;
  readonly added: AddedByOperators;
  readonly grantsNothing: () => boolean;
  readonly kept: () => Kept;
  readonly knowsCallers: () => boolean;
};

export type OwnOperations = {
  operations(): Promise<readonly Operation[]>;
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createOwnOperations(options: OwnOperationsOptions): OwnOperations {
  const words = new WordsToAll(options.live);
  return {
    async operations() {
      const { ownOperations } = await import("./own-operations/own-operations.ts");
      return ownOperations({ ...options, tellAll: words.tell });
    },
    open: () => words.open(),
    close: () => words.close(),
  };
}
