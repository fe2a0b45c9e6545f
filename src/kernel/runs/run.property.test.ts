import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, type TestKernel, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type Attachment, type CallEvent, GatewayError, payload, type Reader, type Run } from "../../contract/index.ts";

const LIMITS = { maxEvents: 12, maxBytes: 4_000 };
const DEADLINE_MS = 30_000;
const KEEP_MS = 20_000;
/** The largest event any step below makes: a journal may exceed its bound by one of these and by the end. */
const LARGEST = 1_000 + 64;

type Step =
  | { do: "start"; life: "bound" | "resumable" | "detached" }
  | { do: "say"; type: "progress" | "log" | "chunk"; size: number }
  | { do: "ask" }
  | { do: "answer" }
  | { do: "finish"; how: "result" | "fault" | "error" | "throw" | "lost" | "silent" | "settle" }
  | { do: "cancel" }
  | { do: "detach" }
  | { do: "attach"; back: number; keeps: boolean }
  | { do: "block" }
  | { do: "unblock" }
  | { do: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("start" as const),
      life: fc.constantFrom("bound", "resumable", "detached"),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      type: fc.constantFrom("progress", "log", "chunk"),
      size: fc.integer({ min: 2, max: 1_000 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("ask", "answer") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("finish" as const),
      how: fc.constantFrom("result", "fault", "error", "throw", "lost", "silent", "settle"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cancel", "detach", "block", "unblock") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("attach" as const), back: fc.nat(5), keeps: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 40_000 }) }) },
) as fc.Arbitrary<Step>;

/** A reader that remembers what it took, so that every gap can be held against what was counted. */
class Recorder implements Reader {
  readonly keeps: boolean;
  readonly taken: { event: CallEvent; cursor: number }[] = [];
  isFull = false;

  constructor(keeps: boolean) {
    this.keeps = keeps;
  }

  take(event: CallEvent, cursor: number): boolean {
    this.taken.push({ event, cursor });
    return !this.isFull;
  }
}

type Followed = {
  run: Run;
  reader: Recorder;
  attachment: Attachment | undefined;
  attachments: { from: number; missed: number; reader: Recorder }[];
  asks: number;
};

class World {
  readonly kit: TestKernel;
  readonly provider: ScriptedProvider;
  readonly followed: Followed[] = [];

  constructor(kit: TestKernel, provider: ScriptedProvider) {
    this.kit = kit;
    this.provider = provider;
  }

  get current(): Followed | undefined {
    return this.followed.at(-1);
  }

  async act(step: Step): Promise<void> {
    if (step.do === "start") this.#start(step.life);
    else if (step.do === "wait") this.kit.time.advance(step.ms);
    else if (this.current) this.#actOn(this.current, step);
    await flush();
    for (const one of this.followed) this.#checkBound(one);
  }

  #start(life: "bound" | "resumable" | "detached"): void {
    if (this.followed.length >= 4) return;
    const reader = new Recorder(true);
    const run = this.kit.kernel.runs.start(this.kit.order("p.tool", { life }), new Recorder(false));
    const followed: Followed = { run, reader, attachment: undefined, attachments: [], asks: 0 };
    this.followed.push(followed);
    this.#attach(followed, -1, true);
  }

  #attach(followed: Followed, from: number, keeps: boolean): void {
    const reader = new Recorder(keeps);
    followed.reader = reader;
    followed.attachment = followed.run.attach(reader, from);
    followed.attachments.push({ from, missed: followed.attachment.missed, reader });
  }

  #actOn(followed: Followed, step: Step): void {
    const { run, reader } = followed;
    const scripted = this.provider.calls.get(run.id);
    switch (step.do) {
      case "say":
        scripted?.write({ type: step.type, payload: payload(`"${"x".repeat(step.size - 2)}"`) });
        break;
      case "ask":
        followed.asks++;
        scripted?.write({
          type: "ask",
          asks: [{ key: `a${followed.asks}`, kind: "elicit", method: "elicitation/create", input: payload("{}") }],
        });
        break;
      case "answer":
        run.reply({
          type: "answer",
          answers: [{ key: `a${followed.asks}`, outcome: "result", payload: payload("{}") }],
        });
        break;
      case "finish":
        this.#finish(run.id, step.how);
        break;
      case "cancel":
        run.cancel("test");
        break;
      case "detach":
        followed.attachment?.detach();
        followed.attachment = undefined;
        break;
      case "attach": {
        const last = reader.taken.at(-1)?.cursor ?? followed.attachments.at(-1)?.from ?? -1;
        this.#attach(followed, Math.max(-1, last - step.back), step.keeps);
        break;
      }
      case "block":
        reader.isFull = true;
        break;
      case "unblock":
        reader.isFull = false;
        followed.attachment?.resume();
        break;
      default:
    }
  }

  #finish(id: string, how: (Step & { do: "finish" })["how"]): void {
    const scripted = this.provider.calls.get(id);
    if (how === "result" || how === "fault") scripted?.write({ type: "end", outcome: how, payload: payload("{}") });
    else if (how === "error") scripted?.write({ type: "error", error: new GatewayError("PROVIDER_FAILED") });
    else if (how === "throw") scripted?.crash(new Error("boom"));
    else if (how === "lost") scripted?.crash(new GatewayError("OUTCOME_UNKNOWN"));
    else if (how === "settle") scripted?.settle();
  }

  #checkBound(followed: Followed): void {
    const { journalBytes } = followed.run as unknown as { journalBytes: number };
    expect(journalBytes).toBeLessThanOrEqual(LIMITS.maxBytes + LARGEST + 64);
  }

  /** Whatever state the calls are in, time and the way out end them all. */
  async drain(): Promise<void> {
    for (const followed of this.followed) {
      followed.reader.isFull = false;
      followed.attachment?.resume();
    }
    this.kit.time.advance(DEADLINE_MS + 6_000);
    await flush();
    for (const followed of this.followed) if (!followed.run.isEnded) followed.run.cancel("drain");
    for (const followed of this.followed) followed.attachment?.detach();
    await flush();
    // What was cancelled just now is held until its time would have been over.
    this.kit.time.advance(DEADLINE_MS + KEEP_MS + 6_000);
    await flush();
  }

  /** Every slot is free again: as many new calls as there are slots reach the provider at once. */
  async checkSlots(concurrency: number): Promise<void> {
    const before = this.provider.calls.size;
    for (let n = 0; n < concurrency; n++)
      this.kit.kernel.runs.start(this.kit.order("p.tool"), new Recorder(false)).cancel();
    await flush();
    expect(this.provider.calls.size - before).toBe(concurrency);
  }

  check(): void {
    for (const { run, attachments } of this.followed) {
      expect(run.isEnded).toBe(true);
      const probe = this.kit.probes.get(run.id);
      expect(probe?.isThrough).toBe(true);
      expect((probe?.ends.length ?? 0) + (probe?.thrown ? 1 : 0)).toBeGreaterThanOrEqual(1);
      expect(probe?.ends.length).toBeLessThanOrEqual(1);
      for (const { from, missed, reader } of attachments) checkReading(from, missed, reader);
    }
    expect(this.kit.kernel.stats()).toMatchObject({ open: 0, kept: 0, keptBytes: 0 });
    expect(this.kit.time.pending).toBe(0);
  }
}

/** Nothing twice, nothing after the end, and no gap behind the cursor beyond what was counted. */
function checkReading(from: number, missed: number, reader: Recorder): void {
  const cursors = reader.taken.map(({ cursor }) => cursor);
  for (const [index, cursor] of cursors.entries())
    expect(cursor).toBeGreaterThan(index === 0 ? from : (cursors[index - 1] as number));
  const ends = reader.taken.filter(({ event }) => event.type === "end" || event.type === "error");
  expect(ends.length).toBeLessThanOrEqual(1);
  if (ends.length === 1) expect(reader.taken.at(-1)).toBe(ends[0]);
  expect(missed).toBeGreaterThanOrEqual(0);
}

describe("a run, whatever happens to it", () => {
  test("ends exactly once, frees everything and stays within its bounds", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const provider = new ScriptedProvider("p", ["tool"]);
          const kit = await testKernel([provider], {
            journal: LIMITS,
            keepMs: KEEP_MS,
            timeoutMs: DEADLINE_MS,
            concurrency,
          });
          const world = new World(kit, provider);
          await world.act({ do: "start", life: "resumable" });
          for (const one of steps) await world.act(one);
          await world.drain();
          world.check();
          await world.checkSlots(concurrency);
          await kit.kernel.close();
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("gives a reader that comes back at its cursor everything that was not counted as missed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant("say" as const), fc.constant("cut" as const), fc.constant("back" as const)), {
          maxLength: 80,
        }),
        async (moves) => {
          const provider = new ScriptedProvider("p", ["tool"]);
          const kit = await testKernel([provider], { journal: LIMITS, keepMs: KEEP_MS });
          const got: number[] = [];
          let counted = 0;
          const reader: Reader = { keeps: true, take: (_event, cursor) => got.push(cursor) > 0 };
          const run = kit.kernel.runs.start(kit.order("p.tool"), reader);
          let attachment: Attachment | undefined = run.attach(reader, -1);
          let said = 0;
          for (const move of [...moves, "back" as const]) {
            if (move === "say") {
              provider.calls.get(run.id)?.write({ type: "progress", payload: payload(`{"progress":${said}}`) });
              said++;
            } else if (move === "cut") {
              attachment?.detach();
              attachment = undefined;
            } else {
              attachment = run.attach(reader, got.at(-1) ?? -1);
              counted += attachment.missed;
            }
          }
          expect(new Set(got).size).toBe(got.length);
          expect(got.length + counted).toBe(said);
          run.cancel();
          await kit.kernel.close();
        },
      ),
      { numRuns: 300 },
    );
  });
});
