import type { FrontContext } from "../front-context.ts";
import type { Listeners } from "./listeners.ts";
import type { Profiles } from "./profiles.ts";
import type { Rounds } from "./rounds.ts";

/** What every part of the 2026-07-28 front has at hand. */
export type ModernContext = {
  readonly front: FrontContext;
  readonly profiles: Profiles;
  readonly rounds: Rounds;
  readonly listeners: Listeners;
};
