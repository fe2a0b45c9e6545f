/** One outage: asks for everything while the store is away, and again until everything is as ever. */
import { setTimeout as wait } from "node:timers/promises";
import type { Field } from "./field.ts";
import { GovernedProber } from "./governed/governed-prober.ts";
import type { StoreName, Way } from "./outages.ts";
import { effectAsEver, GOVERNED_PROBES, type GovernedProbe, PROBES, type Probe, WHILE_AWAY } from "./outages.ts";
import { readExecutions } from "./outcome.ts";
import { Prober } from "./prober.ts";

export type BreakableStore = {
  readonly name: StoreName;
  readonly way: Way;
  break(): Promise<void>;
  mend(): Promise<void>;
};

export type Outage = {
  readonly name: string;
  /** What was seen while the store was away. */
  readonly effects: readonly (readonly [Probe, string])[];
  readonly problems: readonly string[];
};

/** Longer than the lease of one second, its renewal and a command's limit together, and than PostgreSQL is waited for. */
const AWAY_MS = 4_500;
const BACK_MS = 20_000;

export async function checkOutage(field: Field, store: BreakableStore): Promise<Outage> {
  const name = `${store.name} ${store.way}`;
  const probers = startProbers(field);
  await probers.prepare();
  await store.break();
  await wait(AWAY_MS);
  const seen = await askAll(probers);
  const problems = probers.judgeApproved(seen);
  await store.mend();
  const late = await untilAsEver(probers);
  for (const [probe, effect] of seen) {
    const expected = store.way === "restarted" ? effectAsEver(probe) : WHILE_AWAY[store.name][probe];
    if (effect !== expected) problems.push(`${probe} was ${effect}, expected ${expected}`);
  }
  for (const [probe, effect] of late) problems.push(`${probe} did not come back, it was ${effect}`);
  for (const index of field.fleet.fallen) problems.push(`gateway ${index} has ended`);
  await probers.close();
  return { name, effects: [...seen], problems: problems.map((problem) => `${name}: ${problem}`) };
}

type Probers = {
  readonly probes: readonly Probe[];
  prepare(): Promise<void>;
  probe(probe: Probe): Promise<string>;
  /** Whether the call that was approved was made exactly where it was said so. */
  judgeApproved(seen: ReadonlyMap<Probe, string>): string[];
  close(): Promise<void>;
};

function startProbers({ fleet, governed, record }: Field): Probers {
  const [origin, elsewhere] = [fleet.origin(0), fleet.origin(1)];
  const plain = new Prober(origin, elsewhere, governed?.people.of("ada"));
  const further = governed && new GovernedProber({ origin, elsewhere, ...governed });
  return {
    probes: further ? [...PROBES, ...GOVERNED_PROBES] : PROBES,
    async prepare() {
      await plain.prepare();
      await further?.prepare();
    },
    probe: (probe) =>
      further && isGoverned(probe) ? further.probe(probe) : plain.probe(probe as (typeof PROBES)[number]),
    judgeApproved(seen) {
      const effect = seen.get("call that was approved");
      const isMade = further && readExecutions(record).some(({ mark }) => mark === further.approvedMark);
      if (!further || isMade === (effect === "served")) return [];
      return [`the call that was approved was ${effect}, and ${isMade ? "made" : "not made"}`];
    },
    close: () => plain.close(),
  };
}

function isGoverned(probe: Probe): probe is GovernedProbe {
  return (GOVERNED_PROBES as readonly Probe[]).includes(probe);
}

/** All at once; what changes the policy after the others. */
async function askAll({ probes, probe }: Probers): Promise<Map<Probe, string>> {
  const last: Probe = "change of a grant";
  const first = probes.filter((one) => one !== last);
  const seen: [Probe, string][] = await Promise.all(first.map(async (one) => [one, await probe(one)]));
  if (probes.includes(last)) seen.push([last, await probe(last)]);
  return new Map(seen);
}

/** What is not as ever in the end, and what it was instead. */
async function untilAsEver({ probes, probe }: Probers): Promise<Map<Probe, string>> {
  const late = new Map<Probe, string>(probes.map((one) => [one, "never asked"]));
  const until = performance.now() + BACK_MS;
  while (late.size > 0 && performance.now() < until) {
    const asked = [...late.keys()].map(async (one) => {
      const effect = await probe(one);
      if (effect === effectAsEver(one)) late.delete(one);
      else late.set(one, effect);
    });
    await Promise.all(asked);
    await wait(100);
  }
  return late;
}
