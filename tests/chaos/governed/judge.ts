/** Holds what was done, and what is on the audit trail, against what callers and operators were told. */
import { type Execution, GATED, type Tally } from "../outcome.ts";
import { type Decision, wordsAbout } from "./approver.ts";
import type { Attempt } from "./attempts.ts";
import { INTRUDER } from "./intruders.ts";
import type { TrailEvent } from "./trail.ts";

export type GovernedFacts = {
  readonly tally: Tally;
  readonly executions: readonly Execution[];
  readonly events: readonly TrailEvent[];
  readonly decisions: readonly Decision[];
  readonly attempts: readonly Attempt[];
  readonly revokedTokens: readonly string[];
};

const GIVEN = new Set(["dispatched", "approved"]);

/** A call that waits is made at most once for each yes, never without one, and never after a no. */
export function judgeApprovals({ tally, executions, events, decisions }: GovernedFacts): void {
  const made = groupBy(
    executions.filter(({ mark }) => mark.startsWith(GATED)),
    ({ mark }) => mark,
  );
  const said = groupBy(decisions, ({ mark }) => mark);
  const used = countOf(
    events.filter(({ event_type }) => event_type === "dev.isthmus.approval.consumed"),
    ({ details }) => String(details.approval),
  );
  for (const [approval, count] of used) if (count > 1) tally.violate(`approval ${approval} was used ${count} times`);
  for (const [mark, runs] of made) {
    const words = said.get(mark) ?? [];
    const yes = words.filter(({ word }) => word === "approve");
    const ids = new Set(yes.map(({ id }) => id));
    const uses = [...ids].reduce((sum, id) => sum + (used.get(id) ?? 0), 0);
    if (runs.length > uses) tally.violate(`${mark} was made ${runs.length} times with ${uses} approvals`);
    const firstYes = Math.min(...yes.map(({ sentAt }) => sentAt));
    for (const { at } of runs) if (at < firstYes) tally.violate(`${mark} was made before anybody had said yes`);
    if (!wordsAbout(mark).includes("approve")) tally.violate(`${mark} was made though it was denied`);
  }
  judgeWords(tally, decisions, used);
}

/** Of two words about one approval one counts, and a no lets nothing through. */
function judgeWords(tally: Tally, decisions: readonly Decision[], used: ReadonlyMap<string, number>): void {
  for (const [id, words] of groupBy(decisions, (decision) => decision.id)) {
    const isGiven = words.some(({ said }) => GIVEN.has(said));
    const isDenied = words.some(({ said }) => said === "denied");
    if (isGiven && isDenied) tally.violate(`approval ${id} was both given and denied`);
    if (isDenied && used.has(id)) tally.violate(`approval ${id} was denied and used`);
  }
  const counts = countOf(decisions, ({ said }) => said || "nobody answered");
  for (const [said, count] of counts) tally.note("decisions", said, count);
}

/** Every answer and every decision has its event, once; and what nobody may do reached nobody. */
export function judgeTrail(facts: GovernedFacts): void {
  const { tally, executions, events, attempts, decisions, revokedTokens } = facts;
  for (const { mark } of executions)
    if (mark.startsWith(INTRUDER) || mark === "forbidden") tally.violate(`${mark} reached a server`);
  for (const [id, count] of countOf(events, ({ details }) => details.id))
    if (count > 1) tally.violate(`event ${id} is on the trail ${count} times`);
  const calls = events.filter(({ event_type }) => event_type === "TOOL_EXECUTED" || event_type === "TOOL_BLOCKED");
  const tries = countOf(calls, ({ trace_id, details }) => `${trace_id} ${details.attempt}`);
  const isLost = ({ event_type }: TrailEvent) => event_type === "dev.isthmus.call.lost";
  const known = new Set([...calls, ...events.filter(isLost)].map(({ trace_id }) => trace_id));
  for (const { trace, mark, tool, code, isCall } of attempts) {
    const count = tries.get(`${trace} 1`) ?? 0;
    if (count > 1) tally.violate(`${mark} of ${tool} is on the trail ${count} times`);
    if (!isCall || known.has(trace)) continue;
    tally.violate(`${mark} of ${tool} was answered (${code}) and is not on the trail`);
  }
  tally.note("audit", "answers on the trail", attempts.filter(({ isCall }) => isCall).length);
  tally.note("audit", "events", events.length);
  const hidden = attempts.filter(({ code }) => code === "-32601" || code === "-32602").length;
  const concealed = calls.filter(({ details }) => details.concealed === true).length;
  if (concealed < hidden) tally.violate(`${hidden} calls were refused as unknown, and ${concealed} are on the trail`);
  const types = countOf(events, ({ event_type, target, details }) => {
    return `${event_type} ${details.approval ?? target.tool_name}`;
  });
  for (const { id, said } of decisions) {
    const type = GIVEN.has(said) ? "PERMISSION_GRANTED" : said === "denied" ? "PERMISSION_DENIED" : undefined;
    const count = types.get(`${type} ${id}`) ?? 0;
    if (type && count !== 1) tally.violate(`approval ${id} was ${said} and is on the trail ${count} times`);
  }
  for (const id of revokedTokens) {
    const count = types.get(`dev.isthmus.token_revoked ${id}`) ?? 0;
    if (count !== 1) tally.violate(`token ${id} was revoked and is on the trail ${count} times`);
  }
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  return Map.groupBy(items, key);
}

function countOf<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, number> {
  return new Map([...Map.groupBy(items, key)].map(([name, found]) => [name, found.length]));
}
