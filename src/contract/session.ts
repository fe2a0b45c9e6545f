import type { Payload } from "./payload.ts";
import type { Principal } from "./principal.ts";

/** What of a client session matters below the front: who it is and what it said it can do. */
export interface SessionRef {
  readonly id: string;
  readonly principal: Principal;
  /** What it speaks to: the id of a server or catalog, "" for everything. Calls are judged by it. */
  readonly catalog: string;
  /** The revision its client speaks, as in the origin of a call. */
  readonly protocol: string;
  /** The client's declared capabilities, as it wrote them; a per-client upstream is told exactly these. */
  readonly capabilities: Payload;
  readonly clientInfo: Payload;
  /** The client said it can be asked: for roots, sampling or elicitation. */
  readonly canBeAsked: boolean;
  /** No way back to this client outside the answer of a call: nothing may be asked, nothing is pushed. */
  readonly isEphemeral: boolean;
  /** No client is told its id: several may share it, and each process has its own. */
  readonly isUnnamed?: boolean;
  /** Another process of this gateway, on behalf of all its clients: it never has an upstream session of its own. */
  readonly isPeer?: boolean;
}
