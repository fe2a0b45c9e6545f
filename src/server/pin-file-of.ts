/** Where the pins of a config are, for the gateway and for whoever looks at them from outside. */
import { join } from "node:path";
import { joinName, underscoreName } from "../contract/index.ts";
import { type Pin, type PinChange, PinFile, PinFileFault } from "../mechanisms/pins/index.ts";
import type { Config } from "./config/index.ts";

export { PinFileFault };

/** Undefined: this config remembers nothing. */
export function pinFileOf({ gateway: { state } }: Pick<Config, "gateway">): PinFile | undefined {
  return state === undefined ? undefined : new PinFile(join(state, "pins.json"));
}

export type PinnedTool = {
  /** As clients see it. */
  readonly name: string;
  readonly server: string;
  readonly kind: Pin["kind"];
  readonly own: string;
  readonly since: string;
  /** What has changed and is not accepted, newest last. */
  readonly changes: readonly { readonly since: string; readonly what: readonly string[]; readonly was?: string }[];
  /** What the config says about changes; unset: the server is not in it. */
  readonly mode?: "report" | "block" | "off";
};

export type PinReport = { readonly file: string; readonly pins: readonly PinnedTool[]; readonly problem?: string };

/** What is pinned, also while a gateway runs. Undefined: this config remembers nothing. */
export function inspectPins(config: Config): PinReport | undefined {
  const file = pinFileOf(config);
  if (!file) return undefined;
  try {
    return { file: file.path, pins: [...(file.read()?.all() ?? [])].map((pin) => describePin(config, pin)) };
  } catch (error) {
    if (!(error instanceof PinFileFault)) throw error;
    return { file: file.path, pins: [], problem: error.message };
  }
}

/** Accepts what these have become. Rejects with PinFileFault. A gateway that runs takes it over by itself. */
export async function acceptPins(config: Config, tools: readonly PinnedTool[]): Promise<void> {
  const at = new Date().toISOString();
  const changes = tools.map(({ server, kind, own: name }): PinChange => {
    return (book) => book.accept({ server, kind, name }, at);
  });
  await pinFileOf(config)?.update(changes);
}

function describePin(config: Config, { server, kind, name: own, since, pending }: Pin): PinnedTool {
  const table = config.servers.find(({ id }) => id === server);
  const segment = table?.segment ?? server;
  const dotted = joinName(segment, own);
  const isExact = segment === "" || config.gateway.naming === "dotted";
  const changes = pending.map(({ since: at, what, was }) => ({ since: at, what, ...(was !== undefined && { was }) }));
  return {
    name: isExact ? dotted : underscoreName(segment, dotted),
    server,
    kind,
    own,
    since,
    changes,
    ...(table && { mode: table.pin }),
  };
}
