/** Where the pins of a config are, for the gateway and for whoever looks at them from outside. */
import { join } from "node:path";
import { joinName, underscoreName } from "../contract/index.ts";
import {
  nearestPrint,
  type PendingPrint,
  type Pin,
  type PinChange,
  PinFile,
  PinFileFault,
  pendingDigest,
} from "../mechanisms/pins/index.ts";
import type { PinPlace } from "./config/index.ts";

export { PinFileFault };

/** Undefined: this config remembers nothing. */
export function pinFileOf({ gateway: { state } }: Pick<PinPlace, "gateway">): PinFile | undefined {
  return state === undefined ? undefined : new PinFile(join(state, "pins.json"));
}

export type PinnedTool = {
  /** As clients see it. */
  readonly name: string;
  readonly server: string;
  readonly kind: Pin["kind"];
  readonly own: string;
  readonly since: string;
  /** Of all changes together; unset: there are none. */
  readonly digest?: string;
  /** What has changed and is not accepted, newest last. */
  readonly changes: readonly {
    readonly since: string;
    readonly what: readonly string[];
    readonly was?: string;
    readonly members: readonly ChangedMember[];
  }[];
  /** What the config says about changes; unset: the server is not in it. */
  readonly mode?: "report" | "block" | "off";
};

/** Texts are JSON; undefined: there is none, or it is not kept because it is too long or from an older version. */
export type ChangedMember = {
  readonly name: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
  /** Whether a text is missing that was there. */
  readonly isPartial: boolean;
};

export type PinReport = { readonly file: string; readonly pins: readonly PinnedTool[]; readonly problem?: string };

/** What is pinned, also while a gateway runs. Undefined: this config remembers nothing. */
export function inspectPins(config: PinPlace): PinReport | undefined {
  const file = pinFileOf(config);
  if (!file) return undefined;
  try {
    return { file: file.path, pins: [...(file.read()?.all() ?? [])].map((pin) => describePin(config, pin)) };
  } catch (error) {
    if (!(error instanceof PinFileFault)) throw error;
    return { file: file.path, pins: [], problem: error.message };
  }
}

/**
 * Accepts these as they are here, and gives those of them that have changed again since: they are left as they are. Rejects with
 * PinFileFault. A gateway that runs takes it over by itself.
 */
export async function acceptPins(config: PinPlace, tools: readonly PinnedTool[]): Promise<readonly PinnedTool[]> {
  const at = new Date().toISOString();
  const missed: PinnedTool[] = [];
  const changes = tools.map((tool): PinChange => {
    const { server, kind, own: name, digest = "" } = tool;
    return (book) => {
      if (!book.accept({ server, kind, name }, at, digest)) missed.push(tool);
    };
  });
  await pinFileOf(config)?.update(changes);
  return missed;
}

function describePin(config: PinPlace, pin: Pin): PinnedTool {
  const { server, kind, name: own, since, prints, pending } = pin;
  const digest = pendingDigest(pin);
  const table = config.servers.find(({ id }) => id === server);
  const segment = table?.segment ?? server;
  const dotted = joinName(segment, own);
  const isExact = segment === "" || config.gateway.naming === "dotted";
  const changes = pending.map((print) => {
    const { since: at, what, was } = print;
    return { since: at, what, ...(was !== undefined && { was }), members: changedMembers(prints, print) };
  });
  return {
    name: isExact ? dotted : underscoreName(segment, dotted),
    server,
    kind,
    own,
    since,
    ...(digest !== undefined && { digest }),
    changes,
    ...(table && { mode: table.pin }),
  };
}

function changedMembers(prints: Pin["prints"], print: PendingPrint): ChangedMember[] {
  const nearest = nearestPrint(prints, print);
  // A copy under another name has changed in nothing else.
  const names = print.was === undefined ? print.what : [];
  return names.map((name) => {
    const [before, now] = [nearest?.texts?.[name], print.texts?.[name]];
    const isPartial =
      (nearest?.parts[name] !== undefined && before === undefined) ||
      (print.parts[name] !== undefined && now === undefined);
    return { name, before, now, isPartial };
  });
}
