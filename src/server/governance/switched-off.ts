/** What operators switch off by an exposure ends like what is revoked: calls, sessions, and the tokens for it. */
import {
  type Block,
  identityOf,
  matchesPattern,
  type PolicyEntry,
  type Principal,
  type Target,
} from "../../contract/index.ts";
import { barest, type Exposure, type LivePolicy, readExposure } from "../../mechanisms/access/index.ts";
import { makeBlock } from "../../mechanisms/identity/revocation/index.ts";
import { dottedName } from "./dotted-name.ts";
import type { LiveParts } from "./live-parts.ts";

const ANY = "*";

/** Tells of each switch that was not off before. What is off at the start has nothing to end. */
export function watchSwitches(policy: LivePolicy, onOff: (block: Block) => void): void {
  let known: ReadonlySet<string> | undefined;
  policy.onChange(() => {
    const off = policy.entries("exposure").flatMap(blockOf);
    const before = known;
    known = new Set(off.map(({ id }) => id));
    if (before) for (const block of off) if (!before.has(block.id)) onOff(block);
  });
}

/** What cannot be read ends nothing: access has said so already, and allows nothing because of it. */
function blockOf(entry: PolicyEntry): Block[] {
  let exposure: Exposure;
  try {
    exposure = readExposure(entry);
  } catch {
    return [];
  }
  const { updatedAt, updatedBy } = entry;
  const { tenant, server, protocol, primitive, enabled } = exposure;
  if (enabled) return [];
  const plain = (text: string) => (text === ANY ? "" : text);
  const scope = { tenant: plain(tenant), server: plain(server), protocol: plain(protocol), primitive };
  return [makeBlock({ subject: "everybody", key: "", reason: "switched off", ...scope }, updatedBy, updatedAt)];
}

export function endSwitchedOff(block: Block, { sessions, runs, config }: LiveParts): void {
  const { tenant, server, protocol } = block;
  const primitive = barest(block.primitive);
  const isOf = (principal: Principal) => tenant === "" || identityOf(principal).tenant === tenant;
  const isAt = (provider: string, front: string) =>
    (server === "" || server === provider) && (protocol === "" || protocol === front);
  // By the names that switches have, and in any spelling, as new calls are.
  const isNamed = (target: Target) =>
    primitive === "" ||
    [target.name, dottedName(config(), target)].some((name) => matchesPattern(primitive, barest(name)));
  for (const run of runs()) {
    const { principal, target, origin } = run.call;
    const isMeant = isOf(principal) && isAt(target.provider, origin.front) && isNamed(target);
    if (isMeant) run.cancel(SWITCHED_OFF);
  }
  if (primitive !== "") return;
  sessions.endWhere(
    ({ principal, catalog }) => catalog !== "" && isOf(principal) && isAt(catalog, "mcp"),
    SWITCHED_OFF,
  );
}

const SWITCHED_OFF = "it was switched off";
