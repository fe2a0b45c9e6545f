import type { Payload } from "./payload.ts";
import type { ListedKind } from "./primitive.ts";

/** What happens outside any call. Ordered per source. */
export type Notice = {
  /** The provider it comes from. */
  readonly from: string;
  readonly to:
    | { readonly session: string }
    | { readonly resource: string }
    | { readonly principal: string }
    /** Lists of these kinds have changed: for everybody, or only in what this one session sees. */
    | { readonly catalog: readonly ListedKind[]; readonly session?: string };
  readonly method: string;
  readonly payload: Payload;
};
