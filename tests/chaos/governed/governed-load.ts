/** Everybody who is judged, counted, kept waiting or refused, beside the load that every run has. */
import type { KeyObject } from "node:crypto";
import type { Execution, Tally } from "../outcome.ts";
import { Approver } from "./approver.ts";
import { GatedClient } from "./gated-client.ts";
import { startIntruders } from "./intruders.ts";
import { type GovernedFacts, judgeApprovals, judgeTrail } from "./judge.ts";
import { startMetered } from "./metered-clients.ts";
import type { People } from "./people.ts";
import { Revocations } from "./revocations.ts";
import type { TrailReading } from "./trail.ts";

export type GovernedLoad = {
  readonly revocations: Revocations;
  stop(): Promise<void>;
  /** Holds everything that was promised against what was done. `spare`: of the small limit, while stores were away. */
  judge(executions: readonly Execution[], trail: TrailReading, spare?: number): void;
};

export type GovernedField = { readonly people: People; readonly operatorKey: KeyObject };

/** `changesPolicy`: rights end and begin meanwhile. */
export function startGovernedLoad(
  origin: string,
  { people, operatorKey }: GovernedField,
  tally: Tally,
  { changesPolicy }: { readonly changesPolicy: boolean },
): GovernedLoad {
  const approvers = (["olga", "otto"] as const).map((who) => new Approver(origin, people.of(who).token, operatorKey));
  for (const approver of approvers) approver.start();
  const wishes = startWishes(origin, people, tally);
  const intruders = startIntruders(origin, people, tally);
  const metered = startMetered(origin, people, tally);
  const revocations = new Revocations(origin, people, tally);
  revocations.start(changesPolicy);
  return {
    revocations,
    async stop() {
      await Promise.all([wishes.stop(), intruders.stop(), metered.stop(), revocations.stop()]);
      await Promise.all(approvers.map((approver) => approver.stop()));
    },
    judge(executions, trail, spare) {
      const facts: GovernedFacts = {
        tally,
        executions,
        events: trail.events,
        decisions: approvers.flatMap(({ decisions }) => decisions),
        attempts: people.attempts.all,
        revokedTokens: revocations.tokens,
      };
      if (!trail.isIntact) tally.violate(`the audit trail is not what was written: ${trail.said}`);
      judgeApprovals(facts);
      judgeTrail(facts);
      revocations.judge(executions);
      metered.judge(executions, spare);
    },
  };
}

function startWishes(origin: string, people: People, tally: Tally) {
  let isOver = false;
  const wishers = [
    ["gil", "keys", "modern.wipe"],
    ["gil", "plain", "modern.wipe"],
    ["gil", "tasks", "modern.wipe"],
    ["gus", "keys", "modern.wipe"],
    ["gus", "plain", "legacy.wipe"],
  ] as const;
  const loops = wishers.map(async ([who, manner, tool], place) => {
    const client = new GatedClient(origin, { name: `${who}${place}`, caller: people.of(who), tally, manner });
    while (!isOver) await client.wish(tool);
    client.close();
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
}
