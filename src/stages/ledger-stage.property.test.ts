import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { type Call, type CallEvent, GatewayError, type Out, payload, type SharedState } from "../contract/index.ts";
import { createMemorySharedState } from "../stores/memory/index.ts";
import { ledgerStage } from "./ledger-stage.ts";

const KEYS = ["a", "b"] as const;
type Key = (typeof KEYS)[number];

const STEP = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("ask" as const), process: fc.nat(1), key: fc.constantFrom(...KEYS) }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("finish" as const), which: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("kill" as const), process: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("turns" as const), count: fc.nat(6) }) },
);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

/** Two processes over one store. Each trip takes a while on its way there and back; a dead process hears nothing more. */
class World {
  readonly time = new ManualTime();
  readonly state = createMemorySharedState({ clock: this.time });
  readonly made: Record<Key, number> = { a: 0, b: 0 };
  readonly running: { key: Key; isAlive: () => boolean; finish: () => void }[] = [];
  readonly heard: Record<Key, string[]> = { a: [], b: [] };
  readonly asked: Promise<void>[] = [];
  readonly #delays: readonly number[];
  readonly #processes: ({ id: string; stage: ReturnType<typeof ledgerStage> } | undefined)[] = [];
  #trips = 0;
  #starts = 0;
  #calls = 0;

  constructor(delays: readonly number[]) {
    this.#delays = delays;
  }

  async start(place: number): Promise<void> {
    const id = `m${++this.#starts}`;
    await this.state.members.join({ id, address: "" }, 1e9);
    const isAlive = () => this.#processes[place]?.id === id;
    const trip = async <T>(there: () => Promise<T>): Promise<T> => {
      await this.#way(isAlive);
      const got = await there();
      await this.#way(isAlive);
      return got;
    };
    const { calls, channel } = this.state;
    const remote: SharedState["calls"] = {
      admit: (admission) => trip(() => calls.admit(admission)),
      settle: (settlement) => trip(() => calls.settle(settlement)),
      charge: (charge) => trip(() => calls.charge(charge)),
      openOf: (session) => trip(() => calls.openOf(session)),
    };
    const { time } = this;
    const state = { calls: remote, channel, isUp: true };
    this.#processes[place] = {
      id,
      stage: ledgerStage({ state, clock: time, timers: time, member: () => id, isShared: true }),
    };
  }

  async #way(isAlive: () => boolean): Promise<void> {
    await turns(this.#delays[this.#trips++ % this.#delays.length] ?? 0);
    if (!isAlive()) await new Promise(() => undefined);
  }

  /** Another one stands in its place at once. */
  async kill(place: number): Promise<void> {
    const id = this.#processes[place]?.id ?? "";
    this.#processes[place] = undefined;
    await this.state.members.leave(id);
    await this.start(place);
  }

  ask(place: number, key: Key): void {
    const process = this.#processes[place];
    if (!process) return;
    const isAlive = () => this.#processes[place] === process;
    const out: Out = {
      write: (event) => {
        if (isAlive()) this.heard[key].push(wordsOf(event));
        return true;
      },
      ready: () => Promise.resolve(),
    };
    const asked = process.stage(this.#call(key), out, (_call, inner) => this.#make(key, isAlive, inner));
    this.asked.push(
      asked.catch((error) => void (isAlive() && this.heard[key].push(wordsOf({ type: "error", error })))),
    );
  }

  #call(key: Key): Call {
    return {
      id: `c${++this.#calls}`,
      target: { provider: "p", kind: "tool", name: "t" },
      verb: "call",
      method: "tools/call",
      input: payload("{}"),
      principal: { id: "local" },
      session: undefined,
      origin: { front: "test", protocol: "", requestId: "1" },
      deadline: 1e12,
      once: key,
      life: "detached",
      signal: new AbortController().signal,
    };
  }

  #make(key: Key, isAlive: () => boolean, out: Out): Promise<void> {
    const number = ++this.made[key];
    return new Promise((resolve) => {
      const finish = () => {
        out.write({ type: "end", outcome: "result", payload: payload(`"${key} made as ${number}"`) });
        resolve();
      };
      this.running.push({ key, isAlive, finish });
    });
  }

  /** Lets everything arrive that can. */
  async settle(): Promise<void> {
    for (let round = 0; round < 30; round++) {
      await turns(40);
      this.time.advance(500);
    }
  }
}

function wordsOf(event: CallEvent): string {
  if (event.type === "end") return event.payload.text;
  return event.type === "error" ? GatewayError.from(event.error).code : event.type;
}

describe("named calls in two processes", () => {
  test("are made at most once, and all who hear of one hear the same, whenever processes die", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { minLength: 5, maxLength: 30 }),
        fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }),
        async (steps, delays) => {
          const world = new World(delays);
          await world.start(0);
          await world.start(1);
          for (const step of steps) {
            if (step.type === "ask") world.ask(step.process, step.key);
            else if (step.type === "kill") await world.kill(step.process);
            else if (step.type === "turns") await turns(step.count);
            else {
              const [call] = world.running.splice(step.which, 1);
              if (call?.isAlive()) call.finish();
            }
          }
          await world.settle();
          for (const call of world.running) if (call.isAlive()) call.finish();
          await world.settle();
          for (const key of KEYS) world.ask(0, key);
          await world.settle();
          for (const call of world.running) if (call.isAlive()) call.finish();
          await world.settle();
          for (const key of KEYS) {
            expect(world.made[key]).toBeLessThanOrEqual(1);
            expect(world.heard[key].length).toBeGreaterThan(0);
            expect(new Set(world.heard[key]).size).toBe(1);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
