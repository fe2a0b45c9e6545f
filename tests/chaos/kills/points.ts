/**
 * Every fault point of src: which story reaches it in which place, and what must hold after a kill at that very moment.
 * `times`: at which time it is reached the process dies; the first ones may belong to the start.
 */
import type { ScenarioName } from "./scenarios.ts";
import type { Place } from "./world.ts";

export type Driven = {
  readonly point: string;
  readonly times: number;
  readonly place: Place;
  readonly scenario: ScenarioName;
  readonly after: string;
};
/** Has no way in from outside yet; the file kills a process over the real stores instead. */
export type Elsewhere = { readonly point: string; readonly file: string; readonly after: string };

const KNOWN = "a session that was told of answers, and none is lost";
const WISHES = "wishes that were acknowledged are kept: the subscription tells, the level holds";
const GONE = "a session whose end was acknowledged is unknown everywhere";
const TAKEN = "the next one takes the session over, with its upstream session";
const WAITING = "what was written for a client that does not listen reaches it, after its last event";
const ONCE = "a named call was made once at most, and has one answer or OUTCOME_UNKNOWN";
const TASK = "a task that was told of is known, with one end that stays: its answer or OUTCOME_UNKNOWN";
const ENDED = "a stream that broke off goes on after the last event, to an answer or OUTCOME_UNKNOWN";
const SERVED = "others serve, and start, as if it had never been there";
const HOME = "the shared child starts at another home, and a call of it is made once";
const TOLD_OF = "whoever hears OUTCOME_UNKNOWN finds it on the audit trail";
const LINE = "a stream of 2024 is gone with its process: 404, and a new one opens";
const ARRIVES = "the message arrives; twice, under one id, where nobody could know";
const TAKEN_ONCE = "what a held call took is taken once, and its place is free when the lease is over";
const ASKED_ANEW = "a yes that was used up lets nothing through: the call is asked for anew, and was sent once at most";
const WHOLE = "no facts without bytes, and the sweep leaves no bytes without facts";

type Told = readonly [point: string, scenario: ScenarioName, after: string, times?: number];

const at = (place: Place, rows: readonly Told[]): Driven[] =>
  rows.map(([point, scenario, after, times = 1]) => ({ point, times, place, scenario, after }));

const MANY = at("many", [
  ["sessions.create.before", "session", KNOWN],
  ["sessions.create.after", "session", KNOWN],
  ["sessions.save.before", "wishes", WISHES, 2],
  ["sessions.save.after", "wishes", WISHES],
  ["sessions.save.after", "wishes", WISHES, 2],
  ["sessions.save.before", "wishes", WISHES, 3],
  ["sessions.drop.before", "deletion", GONE],
  ["sessions.drop.after", "deletion", GONE],
  ["sessions.claim.before", "takeover", TAKEN],
  ["sessions.claim.after", "takeover", TAKEN],
  ["sessions.release.before", "stop", KNOWN],
  ["sessions.release.after", "stop", KNOWN],
  ["sessions.outbox.before", "outbox", WAITING, 20],
  ["sessions.outbox.after", "outbox", WAITING, 20],
  ["ledger.admit.before", "keyed", ONCE],
  ["ledger.admit.after", "keyed", ONCE],
  ["ledger.admit.after", "keyed", ONCE, 2],
  ["ledger.settle.before", "keyed", ONCE],
  ["ledger.settle.after", "keyed", ONCE],
  ["tasks.new.before", "task", TASK],
  ["tasks.new.after", "task", TASK],
  ["tasks.new.after", "modernTask", TASK],
  ["tasks.end.before", "task", TASK],
  ["tasks.end.before", "modernTask", TASK],
  ["tasks.end.after", "task", TASK],
  ["tasks.lost.before", "lostTask", TASK],
  ["tasks.lost.after", "lostTask", TASK],
  ["tasks.relay.before", "relayedTask", TASK],
  ["tasks.relay.after", "relayedTask", TASK],
  ["records.task.writing", "task", TASK, 2],
  ["records.task.written", "task", TASK, 2],
  ["front.journal.before", "journal", ENDED, 3],
  ["front.journal.after", "journal", ENDED, 3],
  ["front.line.before", "line", LINE],
  ["front.line.after", "line", LINE],
  ["upstream.session.remembering", "upstream", KNOWN],
  ["upstream.session.remembered", "upstream", KNOWN, 2],
  ["upstream.session.recalled", "takeover", TAKEN],
  ["upstream.session.forgotten", "upstream", GONE],
  ["cluster.join.before", "start", SERVED],
  ["cluster.join.after", "start", SERVED],
  ["cluster.renew.before", "start", SERVED],
  ["cluster.renew.after", "start", SERVED, 2],
  ["cluster.renew.after", "line", LINE, 2],
  ["cluster.leave.before", "stop", KNOWN],
  ["cluster.leave.before", "deletion", GONE],
  ["cluster.leave.before", "keyed", ONCE],
  ["cluster.leave.before", "task", TASK],
  ["cluster.leave.before", "relayedTask", TASK],
  ["cluster.leave.after", "stop", KNOWN],
  ["redis.get.sending", "takeover", TAKEN],
  ["redis.get.acknowledged", "takeover", TAKEN],
  ["redis.claim.sending", "session", KNOWN, 2],
  ["redis.claim.acknowledged", "session", KNOWN, 2],
  ["redis.put.sending", "wishes", WISHES, 2],
  ["redis.put.acknowledged", "wishes", WISHES, 2],
  ["redis.drop.sending", "deletion", GONE],
  ["redis.drop.acknowledged", "deletion", GONE],
  ["redis.release.sending", "stop", KNOWN],
  ["redis.release.acknowledged", "stop", KNOWN],
  ["redis.join.sending", "start", SERVED],
  ["redis.join.acknowledged", "start", SERVED],
  ["redis.renew.sending", "start", SERVED],
  ["redis.renew.acknowledged", "start", SERVED],
  ["redis.leave.sending", "stop", KNOWN],
  ["redis.leave.acknowledged", "stop", KNOWN],
  ["redis.list.sending", "drain", KNOWN],
  ["redis.list.acknowledged", "drain", KNOWN],
  ["redis.append.sending", "outbox", WAITING, 20],
  ["redis.append.acknowledged", "outbox", WAITING, 20],
  ["redis.remove.sending", "outbox", WAITING, 20],
  ["redis.remove.acknowledged", "outbox", WAITING, 20],
  ["redis.admit.sending", "keyed", ONCE],
  ["redis.admit.acknowledged", "keyed", ONCE],
  ["redis.settle.sending", "keyed", ONCE],
  ["redis.settle.acknowledged", "keyed", ONCE],
  ["redis.open-of.sending", "resume", ENDED],
  ["redis.open-of.acknowledged", "resume", ENDED],
]);

const NEW = at("new", [
  ["cluster.key.before", "start", SERVED],
  ["cluster.key.after", "start", SERVED],
  ["records.migration.writing", "start", SERVED],
  ["records.migration.written", "start", SERVED],
  ["home.claim.before", "home", HOME],
  ["home.claim.after", "home", HOME],
  ["home.drop.before", "home", HOME],
  ["home.drop.after", "home", HOME],
  ["redis.touch.sending", "start", SERVED],
  ["redis.touch.acknowledged", "start", SERVED],
]);

const RECORDED = at("recorded", [
  ["audit.turn.noting", "journal", TOLD_OF],
  ["front.journal.after", "journal", TOLD_OF, 3],
]);

const ALONE = at("alone", [
  ["sessions.create.after", "session", KNOWN],
  ["sessions.save.after", "wishes", WISHES, 3],
  ["sessions.claim.after", "takeover", TAKEN],
  ["sessions.outbox.after", "outbox", WAITING, 7],
  ["ledger.admit.after", "keyed", ONCE],
  ["ledger.settle.before", "keyed", ONCE],
  ["ledger.settle.after", "keyed", ONCE],
  ["tasks.new.after", "modernTask", TASK],
  ["tasks.end.after", "task", TASK],
  ["tasks.lost.after", "lostTask", TASK],
  ["tasks.relay.after", "relayedTask", TASK],
  ["cluster.leave.before", "stop", KNOWN],
  ["cluster.leave.before", "deletion", GONE],
  ["cluster.leave.before", "keyed", ONCE],
  ["cluster.leave.before", "task", TASK],
  ["sqlite.group.writing", "session", KNOWN],
  ["sqlite.group.writing", "keyed", ONCE, 5],
  ["sqlite.group.written", "session", KNOWN],
  ["sqlite.group.written", "keyed", ONCE, 6],
  ["sqlite.claim.acknowledged", "session", KNOWN],
  ["sqlite.put.acknowledged", "wishes", WISHES, 2],
  ["sqlite.drop.acknowledged", "deletion", GONE],
  ["sqlite.admit.acknowledged", "keyed", ONCE],
  ["sqlite.settle.acknowledged", "keyed", ONCE],
]);

export const DRIVEN: readonly Driven[] = [...MANY, ...NEW, ...RECORDED, ...ALONE];

const RECORDS = "tests/contract/records/kills.test.ts";
const inRecords = (after: string, points: readonly string[]): Elsewhere[] =>
  points.map((point) => ({ point, file: RECORDS, after }));

const CHARGES = "src/stores/redis/redis-charge.contract.test.ts";

const AUDIT = "tests/e2e/audit/kills.test.ts";
const ON_TRAIL = "every event that a caller knows of is on the trail, once, and the trail is whole";
const ON_THE_TRAIL = [
  "audit.block.writing",
  "audit.block.written",
  "audit.spool.read",
  "audit.checkpoint.writing",
  "audit.checkpoint.written",
  "audit.index.writing",
  "audit.index.written",
].map((point): Elsewhere => ({ point, file: AUDIT, after: ON_TRAIL }));

export const ELSEWHERE: readonly Elsewhere[] = [
  ...ON_THE_TRAIL,
  ...["records.changes.writing", "records.changes.written", "approvals.approval.consumed"].map((point) => ({
    point,
    file: "tests/e2e/approvals/kills.test.ts",
    after: ASKED_ANEW,
  })),
  { point: "redis.charge.sending", file: CHARGES, after: TAKEN_ONCE },
  { point: "redis.charge.acknowledged", file: CHARGES, after: TAKEN_ONCE },
  ...inRecords(ARRIVES, [
    "records.delivery.adding",
    "records.delivery.added",
    "records.delivery.taken",
    "records.delivery.ending",
    "records.delivery.ended",
    "delivery.message.sending",
    "delivery.message.sent",
  ]),
  ...inRecords(WHOLE, [
    "records.blob.adding",
    "records.blob.added",
    "records.blob.dropping",
    "records.blob.dropped",
    "blobs.bytes.written",
    "blobs.file.renaming",
    "blobs.facts.adding",
    "blobs.facts.added",
    "blobs.facts.dropped",
  ]),
];

/** Reached by nothing that a client can do. */
export const UNREACHED: readonly { readonly point: string; readonly because: string }[] = [
  {
    point: "sqlite.touch.acknowledged",
    because: "only homes of shared children and streams of 2024 are renewed, and a lone process has neither",
  },
  { point: "sqlite.release.acknowledged", because: "a lone process has nobody to give a session to" },
];
