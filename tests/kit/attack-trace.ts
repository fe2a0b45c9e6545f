/** An attack has failed only where it also left its trace: an event that says who tried what and why not, and holds no secret. */
import { expect } from "vitest";
import { lastAnswer } from "./eventually.ts";

/** An event as tests see it, from memory or from the API. */
export type SeenEvent = {
  readonly type: string;
  readonly actor: { readonly id: string };
  readonly target: { readonly server: string; readonly name: string };
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export type AttackTrace = {
  readonly type: string;
  /** Why it did not count: one of `why`, `reason`, `code` and `source` of the details. */
  readonly why: string;
  /** Who tried; unset: anybody, but somebody must be named. */
  readonly actor?: string;
  readonly server?: string;
  readonly name?: string;
  /** What else must stand in the details. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** A call that is held is refused as long as nobody says yes. */
const TURNED_DOWN: ReadonlySet<string> = new Set(["DENIED", "BLOCKED", "FAILURE", "PENDING"]);

/** `secrets`: what was shown, such as tokens and proofs. */
export function expectTrace(events: readonly SeenEvent[], trace: AttackTrace, secrets: readonly string[] = []): void {
  const found = events.filter((event) => isTrace(event, trace));
  expect(found, `no ${trace.type} (${trace.why}) in ${JSON.stringify(events.map(brief))}`).not.toEqual([]);
  for (const { actor, result } of found) {
    expect(actor.id).not.toBe("");
    expect(TURNED_DOWN).toContain(result);
  }
  expectNoSecret(JSON.stringify(events), secrets);
}

function isTrace(event: SeenEvent, { type, why, actor, server, name, details = {} }: AttackTrace): boolean {
  return (
    event.type === type &&
    ["why", "reason", "code", "source"].some((key) => event.details[key] === why) &&
    (actor === undefined || event.actor.id === actor) &&
    (server === undefined || event.target.server === server) &&
    (name === undefined || event.target.name === name) &&
    Object.entries(details).every(([key, value]) => event.details[key] === value)
  );
}

function brief({ type, actor, target, result, details }: SeenEvent): string {
  const { why = details.reason, code } = details;
  return [type, result, actor.id, `${target.server}.${target.name}`, why ?? code].join(" ");
}

/** Signed things are also secret in parts: their signature alone would do harm enough. */
function expectNoSecret(text: string, secrets: readonly string[]): void {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/[\s.,]+/)]);
  for (const part of parts) if (part.length > MIN_SECRET) expect(text).not.toContain(part);
  expect(text).not.toMatch(/isth_[A-Za-z0-9_-]{8}|access_token|eyJ[A-Za-z0-9_-]{8,}\.eyJ/);
}

const MIN_SECRET = 15;
/** An event is on the trail a moment after the answer went out. */
const PATIENCE_MS = 5_000;

type KeptEvent = {
  readonly event_type: string;
  readonly actor: { readonly id: string };
  readonly target: { readonly server_id: string; readonly tool_name: string };
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>> & { readonly id: string };
};

type Watched = {
  readonly origin: () => string;
  /** Of somebody who may look. */
  readonly headers?: () => Record<string, string>;
  readonly secrets?: () => readonly string[];
};

/** What is put on the trail of a running gateway. */
export class TrailWatch {
  readonly #read: () => Promise<readonly KeptEvent[]>;
  readonly #secrets: () => readonly string[];

  constructor({ origin, headers = () => ({}), secrets = () => [] }: Watched) {
    this.#read = () => eventsOver(new URL("/api/audit?limit=1000", origin()), headers());
    this.#secrets = secrets;
  }

  /** Runs an attack, and waits until its trace is on the trail. `trace` may depend on what was answered. */
  async attack<Answer>(
    attack: () => Promise<Answer>,
    trace: AttackTrace | ((answer: Answer) => AttackTrace),
    secrets: readonly string[] = [],
  ): Promise<Answer> {
    const before = new Set((await this.#read()).map(({ details }) => details.id));
    const answer = await attack();
    const wanted = typeof trace === "function" ? trace(answer) : trace;
    const isThere = (events: readonly SeenEvent[]) => events.some((event) => isTrace(event, wanted));
    const fresh = await lastAnswer(() => this.#since(before), isThere, PATIENCE_MS);
    expectTrace(fresh, wanted, [...secrets, ...this.#secrets()]);
    return answer;
  }

  async #since(known: ReadonlySet<string>): Promise<readonly SeenEvent[]> {
    return (await this.#read()).filter(({ details }) => !known.has(details.id)).map(seen);
  }
}

async function eventsOver(url: URL, headers: Record<string, string>): Promise<readonly KeptEvent[]> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`the trail cannot be read: ${response.status}`);
  return ((await response.json()) as { events: KeptEvent[] }).events;
}

function seen({ event_type, actor, target, result, details }: KeptEvent): SeenEvent {
  return { type: event_type, actor, target: { server: target.server_id, name: target.tool_name }, result, details };
}
