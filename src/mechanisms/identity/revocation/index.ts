export { BlockList } from "./block-list.ts";
export type { BlockedPlace, PlaceFault } from "./blocked-place.ts";
export { ownWords, sharedWords } from "./heard-words.ts";
export { makeBlock } from "./make-block.ts";
export { type RevocationFeed, SignedRevocations } from "./signed-revocation.ts";
