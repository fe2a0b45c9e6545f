import { type Block, DEFAULT_TENANT, eachToken, identityOf, type TokenRows } from "../../../contract/index.ts";
import { principalOfToken } from "../static-token.ts";
import { BlockIndex } from "./block-index.ts";
import { isPlatformsBlock } from "./make-block.ts";

/**
 * For how many tokens a block holds because of who made them, and not of who has them; undefined: it is nothing that tokens bear, or
 * nobody can tell now. Never rejects: the block holds already.
 */
export async function countMade(
  tokens: Pick<TokenRows, "list"> | undefined,
  block: Block,
): Promise<number | undefined> {
  const isBorne = ["user", "client", "principal"].includes(block.subject) && isPlatformsBlock(block);
  if (!tokens || !isBorne || block.tenant === DEFAULT_TENANT) return undefined;
  const index = new BlockIndex();
  index.put(block);
  let count = 0;
  try {
    for await (const row of eachToken(tokens, block.tenant === "" ? undefined : block.tenant)) {
      const bearer = principalOfToken(row);
      const isMeant = index.all(bearer).length > 0;
      if (isMeant && index.all({ ...bearer, identity: { ...identityOf(bearer), makerNames: [] } }).length === 0)
        count++;
    }
  } catch {
    return undefined;
  }
  return count;
}
