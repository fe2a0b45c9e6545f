/**
 * A client of 2026-07-28 has no session, but servers of 2025 do, and shape what they offer by what the client declared.
 * So there is one session for each profile: the caller, the catalog, and the capabilities in one canonical form.
 */
import {
  canonicalJson,
  GatewayError,
  jsonText,
  type Payload,
  type Principal,
  textOf,
} from "../../../contract/index.ts";
import { type Session, Shares, type Voice } from "../../../mechanisms/sessions/index.ts";
import { revision20260728, TASKS_EXTENSION } from "../../../wire/mcp/2026-07-28/index.ts";
import { canBeAsked } from "../asks.ts";
import type { FrontContext } from "../front-context.ts";

const MAX_PROFILES = 1000;

type JsonObject = Record<string, unknown>;

/**
 * What a client declares, in one form: plain elicitation is by form; `tasks`, and the tasks extension, which is said of
 * each call, are left out. Whether roots change is never said in this era, so servers are told they may.
 * Throws JsonFault on a repeated key.
 */
export function profileOf(capabilities: Payload): Profile {
  const known = KNOWN.get(capabilities);
  if (known) return known;
  const profile = readProfile(capabilities);
  KNOWN.set(capabilities, profile);
  return profile;
}

type Profile = { readonly text: string; readonly hasTasks: boolean };

/** Envelopes that are equal hold one and the same payload. */
const KNOWN = new WeakMap<Payload, Profile>();

function readProfile(capabilities: Payload): Profile {
  const { tasks: _tasks, roots, elicitation, extensions, ...rest } = capabilities.value() as JsonObject;
  const profile: JsonObject = { ...rest };
  if (isObject(roots)) profile.roots = { ...roots, listChanged: true };
  if (isObject(elicitation)) profile.elicitation = Object.keys(elicitation).length === 0 ? { form: {} } : elicitation;
  const hasTasks = isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
  if (isObject(extensions)) {
    const { [TASKS_EXTENSION]: _extension, ...others } = extensions;
    if (Object.keys(others).length > 0) profile.extensions = others;
  }
  return { text: textOf(canonicalJson(jsonText(profile))), hasTasks };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whose session it is. `isPeer`: see SessionRef. */
type ProfileOpener = { readonly principal: Principal; readonly isPeer: boolean };

export class Profiles {
  readonly #front: FrontContext;
  readonly #voice: Voice;
  readonly #sessions = new Map<string, Session>();
  readonly #shares = new Shares(MAX_PROFILES);
  /** By the profile alone: most of them are used in one catalog by one caller. */
  readonly #last = new WeakMap<Payload, Session>();
  readonly #entering = new WeakMap<Session, Promise<void>>();

  constructor(front: FrontContext, voice: Voice) {
    this.#front = front;
    this.#voice = voice;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The session of this profile. Throws OVERLOADED. Counts as use. */
  session(catalog: string, opener: ProfileOpener, profile: Payload): Session {
    const { principal, isPeer } = opener;
    const last = this.#last.get(profile);
    const isTheirs = last?.principal.id === principal.id && last.isPeer === isPeer;
    if (last && isTheirs && last.catalog === catalog && !last.isEnded) {
      return this.#front.sessions.find(last.id, principal) ?? last;
    }
    const session = this.#find(catalog, opener, profile);
    this.#last.set(profile, session);
    return session;
  }

  #find(catalog: string, { principal, isPeer }: ProfileOpener, profile: Payload): Session {
    const key = `${catalog}\0${principal.id}\0${isPeer}\0${profile.text}`;
    const known = this.#sessions.get(key);
    if (known && !known.isEnded) return this.#front.sessions.find(known.id, principal) ?? known;
    if (known) this.#drop(key, known);
    this.#makeRoom(principal);
    const session = this.#front.sessions.create({
      voice: this.#voice,
      principal,
      catalog,
      protocol: revision20260728.version,
      capabilities: profile,
      clientInfo: this.#front.sessions.intern(jsonText(this.#front.config.serverInfo)),
      canBeAsked: canBeAsked(profile),
      isUnnamed: true,
      isPeer,
    });
    this.#sessions.set(key, session);
    this.#shares.take(principal);
    return session;
  }

  #drop(key: string, session: Session): void {
    this.#sessions.delete(key);
    this.#shares.giveBack(session.principal);
  }

  /** Whoever has a share of their own makes room among their own profiles. */
  #makeRoom(principal: Principal): void {
    if (this.#sessions.size < MAX_PROFILES && !this.#shares.isSpent(principal)) return;
    for (const [key, session] of this.#sessions) if (session.isEnded) this.#drop(key, session);
    const spent = this.#shares.spent(principal);
    if (spent) this.#endIdle((session) => this.#shares.isOf(spent, session.principal));
    else if (this.#sessions.size >= MAX_PROFILES) this.#endIdle(() => true);
  }

  #endIdle(isMeant: (session: Session) => boolean): void {
    const idle = [...this.#sessions].filter(([, session]) => isMeant(session) && !session.isBusy);
    const [longest] = idle.sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (!longest) throw new GatewayError("OVERLOADED", { message: "Clients declare too many different capabilities." });
    this.#drop(...longest);
    this.#front.sessions.end(longest[1], "room was needed for another profile");
  }

  /** Resolves when what the session sees is ready; several requests wait together. */
  enter(session: Session): Promise<void> {
    const known = this.#entering.get(session);
    if (known !== undefined) return known;
    const entering = this.#front.catalog.enter(session.catalog, session).then(
      () => {
        session.isEntered = true;
      },
      (error) => {
        this.#entering.delete(session);
        throw error;
      },
    );
    this.#entering.set(session, entering);
    return entering;
  }
}
