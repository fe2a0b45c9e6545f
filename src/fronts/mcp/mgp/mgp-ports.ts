import type { Operation, TrailFeed } from "../../../contract/index.ts";
import type { MgpExtension } from "../../../wire/mgp/index.ts";

/** What MGP's methods and notifications lead to. */
export type MgpPorts = {
  /** Which parts of MGP this gateway has, as it is configured now. */
  readonly offered: () => readonly MgpExtension[];
  /** Everything that is done to the gateway itself; loaded when it is first asked for. */
  readonly operations: () => Promise<readonly Operation[]>;
  readonly trail: TrailFeed;
};
