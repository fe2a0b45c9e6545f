/** The gateway of a config that is not where the config says. */
import { Ending } from "../ending.ts";
import { readGatewayPlace, readPinPlace } from "../own-config.ts";
import { findListener, runsWith } from "./find-listener.ts";
import { readMark } from "./gateway-mark.ts";

export type MovedGateway = {
  /** Where it is. */
  readonly found: string;
  /** What to do about it. */
  readonly advice: string;
  /** Whoever started it said so. */
  readonly isMeant: boolean;
};

/** Of the config that was named, else of the one here. Undefined: none is known to run elsewhere. */
export async function movedGateway(config: string | undefined): Promise<MovedGateway | undefined> {
  const flags = config === undefined ? {} : { config };
  const mark = markFor(flags);
  if (!mark) return undefined;
  const url = new URL(mark.url);
  const listener = await findListener(url);
  const { files = [] } = readGatewayPlace(flags);
  // The mark may be of another process, or of somebody else's making: only who shows to be this gateway has left it.
  if (!listener?.isOwn || !runsWith(listener, files)) return undefined;
  if (mark.isGiven) {
    const found = `your gateway of this config was started with another address, ${url.host}`;
    return { found, advice: `name it with --url ${url.host}`, isMeant: true };
  }
  const found = `your gateway of this config still listens on ${url.host}`;
  return { found, advice: "restart it to move it", isMeant: false };
}

function markFor(flags: { readonly config?: string }) {
  try {
    const { state } = readPinPlace(flags).gateway;
    return state === undefined ? undefined : readMark(state);
  } catch (error) {
    if (error instanceof Ending) return undefined;
    throw error;
  }
}

/** In one line. */
export function movedLine(moved: MovedGateway | undefined): string[] {
  return moved ? [`${moved.found}; ${moved.advice}`] : [];
}
