import type { FrontContext } from "../front-context.ts";
import { Listeners } from "./listeners.ts";
import type { ModernContext } from "./modern-context.ts";
import { Profiles } from "./profiles.ts";
import { Rounds } from "./rounds.ts";
import { createModernVoice } from "./voice.ts";

/** The parts of the 2026-07-28 front that outlive a request. */
export function createModern(front: FrontContext): ModernContext {
  const rounds = new Rounds(front);
  const listeners = new Listeners(front);
  const profiles = new Profiles(front, createModernVoice(front.catalog, listeners, rounds));
  return { front, profiles, rounds, listeners };
}
