/** What an outage does to callers. The rows of Redis and PostgreSQL are those that `chaos:stores` holds gateways to. */
import {
  type Effect,
  GOVERNED_PROBES,
  PROBES,
  type Probe,
  type StoreName,
  WAYS,
  WHILE_AWAY,
} from "../../tests/chaos/outages.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

/** What a reader must know beside the effect. */
const REMARKS: Readonly<Record<StoreName, Partial<Record<Probe, string>>>> = {
  Redis: {
    "call in a session":
      "until the lease is over, sessions go on at their homes; then they are closed, and go on when it is back",
    "call without a session": "nobody else needs to know of it",
    "call with a key": "whether it was made before cannot be known",
    "call under a rate or a number of places":
      "refused for two seconds, in case it is only slow; then each process lets through its share: the limit divided by the number of processes there were last, rounded down, at least one (refused where that number was not yet known: the first limit was set less than two seconds before); what was taken before is not known, so that all together may let through the capacity of a bucket once more; and Redis does not hear of it, so that as much again may pass when it is back",
    "call under a budget": "whether it is spent cannot be known",
    "slow call that may be a task": "tasks are in PostgreSQL",
    "poll of an ended task elsewhere": "while it runs: refused, because where it runs cannot be known",
    "call with a token that was seen before": "tokens are in PostgreSQL",
    "call with a token that was revoked": "word of a revocation may be lost: other processes look every five seconds",
    "call that must be approved first": "approvals are in PostgreSQL",
    "yes or no to a call that waits": "a process that holds the call hears of it within a second",
    "call that was approved": "not where it is under a budget",
    "revocation of a token": "in force at this process at once, at the others within five seconds",
    "change of a grant": "in force at this process at once, at the others within five seconds",
  },
  PostgreSQL: {
    "call with a key": "keys are in Redis",
    "call under a rate or a number of places":
      "limits that operators have set stay in force as they were last known; they cannot be changed",
    "call under a budget": "budgets are in Redis",
    "slow call that may be a task":
      "answered as a plain call when it is done, as no task is made that could not be kept; asked for outright, a task is refused",
    "poll of a task at its home": "that it is over is told when it has been written down",
    "poll of an ended task elsewhere": "its row cannot be read",
    "call with a token that was seen before": "for ten minutes; nobody can be revoked meanwhile",
    "call with a token that was not seen before": "whose it is cannot be known; tokens of issuers need no database",
    "call with a token that was revoked": "refused where it was not seen before, or not for ten minutes",
    "call that a policy forbids": "the policy stays in force as it was last known",
    "call that is recorded": "its event is in the spool before it is answered, and on the trail when the store is back",
    "call that must be approved first": "nobody could decide about it",
    "yes or no to a call that waits": "no decision is taken that is not on record",
    "call that was approved": "nothing is sent to the server; the approval stays good until it expires",
  },
};

/** A store of one process, with the tests that show it: it has no other process that could be asked. */
export type FullDiskRow = {
  readonly what: string;
  readonly effect: Effect;
  readonly remark: string;
  readonly test: readonly [file: string, title: string];
};

const COMMITS = "src/stores/sqlite/group-commit.test.ts";
const MOVES = "src/fronts/mcp/http/sessions-move.test.ts";

export const FULL_DISK: readonly FullDiskRow[] = [
  {
    what: "new session",
    effect: "refused",
    remark: "nobody is told of a session that a restart would lose",
    test: [MOVES, "refuses new sessions and those at home elsewhere, and no others"],
  },
  {
    what: "call that is not recorded, in a session or without one",
    effect: "served",
    remark: "its record is written when there is room again",
    test: [COMMITS, "does not trouble calls that nobody waits for"],
  },
  {
    what: "call that `[audit]` records",
    effect: "refused",
    remark:
      'from the first event on that the disk does not take, until it takes one that says how many are missing; with `onFull = "flag"` served',
    test: [
      "src/mechanisms/audit/trail.test.ts",
      "a disk that took nothing is tried again when somebody asks, and the trail tells how much is missing",
    ],
  },
  {
    what: "call with a key",
    effect: "refused",
    remark: "a repeat could not be told from it",
    test: ["src/fronts/mcp/named-calls.test.ts", "is refused while the store is away; others go on"],
  },
  {
    what: "new task",
    effect: "refused",
    remark: "a call that may become one is answered as a plain call",
    test: ["src/fronts/mcp/durable-tasks.test.ts", "is refused while it cannot be stored"],
  },
  {
    what: "whatever only reads",
    effect: "served",
    remark: "",
    test: [COMMITS, "refuses all writes of the group, tells, and lets reads go on"],
  },
];

const INTRODUCTION =
  "*served*: as ever. *refused*: within seconds, with nothing done: status 503 with `Retry-After`, or the error\n" +
  "[STATE_UNAVAILABLE](errors/STATE_UNAVAILABLE.md). *denied*: as ever, too: the caller may not do it, and is told so.\n" +
  "When the store is back, everything is served again by itself. What a client was told before is not lost.";

const HELD =
  "`npm run chaos:stores -- --governed` breaks each store in each of these ways under load, and holds three gateways to\n" +
  `every row: ${WAYS.join(", ")}. The rows from "${GOVERNED_PROBES[0]}" on are about gateways\n` +
  "that ask callers who they are.";

export const outagesGenerator: Generator = { name: "outages", pages: async () => [outagesPage()] };

export function outagesPage(): Page {
  const away = (Object.keys(WHILE_AWAY) as StoreName[]).flatMap((store) => [
    `## ${store} is away`,
    table(
      ["what", "effect", "remark"],
      [...PROBES, ...GOVERNED_PROBES].map((probe) => rowOf(store, probe)),
    ),
    ...(store === "PostgreSQL" ? ["Messages that must arrive wait until it is back."] : []),
  ]);
  const full = FULL_DISK.map(({ what, effect, remark, test: [file] }) => [what, effect, remark, `\`${file}\``]);
  return page(
    `${REFERENCE}/outages.md`,
    "# What an outage of a store does",
    INTRODUCTION,
    HELD,
    ...away,
    "## The disk of a single process is full",
    table(["what", "effect", "remark", "test"], full),
  );
}

function rowOf(store: StoreName, probe: Probe): string[] {
  return [probe, WHILE_AWAY[store][probe], REMARKS[store][probe] ?? ""];
}
