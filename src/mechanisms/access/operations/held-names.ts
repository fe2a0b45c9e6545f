/**
 * Names that a tenant gave away before the platform spoke of them: a row that names the tenant is about the bearers of those tokens,
 * too, whoever they are. Nobody can tell whom it means, so whoever sets it is told how many there are.
 */
import {
  DEFAULT_TENANT,
  eachToken,
  identityOf,
  namedByOf,
  type Principal,
  type TokenRow,
  type TokenRows,
} from "../../../contract/index.ts";
import { ANY, type Binding } from "../policy.ts";
import { patternRank } from "../precedence.ts";

/** How many tokens of tenants' own making a row of the platform opens something to by name; undefined: it does not. */
export async function countHeld(
  tokens: Pick<TokenRows, "list"> | undefined,
  by: Principal,
  { tenant, target, allowed }: Pick<Binding, "tenant" | "target" | "allowed">,
): Promise<number | undefined> {
  const isPlatforms = identityOf(by).tenant === DEFAULT_TENANT && tenant !== DEFAULT_TENANT && tenant !== ANY;
  if (!tokens || !isPlatforms || !allowed || target.pattern === ANY) return undefined;
  const isMeant = (row: TokenRow) =>
    namedByOf(row) === "tenant" &&
    namesOf(row, target.type).some((name) => patternRank(target.pattern, name) !== undefined);
  let count = 0;
  for await (const row of eachToken(tokens, tenant)) if (isMeant(row)) count++;
  return count;
}

function namesOf({ user, client, groups }: TokenRow, type: Binding["target"]["type"]): readonly string[] {
  if (type === "group") return groups;
  return [type === "user" ? user : client];
}
