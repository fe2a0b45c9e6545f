import type { Approval } from "./approval.ts";
import { makerName } from "./token.ts";

type Known = Pick<Approval, "principal" | "user" | "client">;

/** Who asks for a call, by all names that it could have asked with before. */
export type AskedBy = Known & {
  readonly tenant: string;
  /** Who made the token that it comes with, and who made theirs, by `makerName`. */
  readonly makers: readonly string[];
};

/** Both of one tenant. */
export function isSameCaller(one: Known, other: Known): boolean {
  const isSameUser = one.user !== "" && one.user === other.user;
  // Where nobody knows who is behind a client, all that it has is one and the same.
  const isSameClient = one.client !== "" && one.client === other.client && (one.user === "" || other.user === "");
  return one.principal === other.principal || isSameUser || isSameClient;
}

/** Whether this was asked for by this one, or by whoever made its token. Both of one tenant. */
export function isAskedBy(approval: Approval, by: AskedBy): boolean {
  return isSameCaller(by, approval) || isMadeBy(by, approval);
}

/** Whether whoever asked for this made the token of this one, or what it was made with. */
export function isMadeBy({ makers }: Pick<AskedBy, "makers">, approval: Approval): boolean {
  // Of tokens from before makers were kept, only by what the maker came then is known.
  return makers.includes(makerName(approval)) || makers.includes(approval.principal);
}
