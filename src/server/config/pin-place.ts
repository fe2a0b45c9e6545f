/** Where the pins of a config are, and what it says about changes: no secret of it is needed for that, so none must be known. */
import { dirname, resolve } from "node:path";
import { STATE_FOLDER } from "../../contract/index.ts";
import type { GatewayConfig, ServerConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { placeIn } from "./gateway-place.ts";
import { reportProblems, valueAt } from "./problem.ts";
import type { RawConfig } from "./read-config.ts";
import { serverSchema } from "./server-config.ts";

/** A whole config is one, too. */
export type PinPlace = {
  readonly gateway: Pick<GatewayConfig, "naming" | "state">;
  readonly servers: readonly Pick<ServerConfig, "id" | "segment" | "pin">[];
};

/** Throws ConfigError where the place cannot be made out. */
export function pinPlaceIn(raw: RawConfig): PinPlace {
  const { gateway, servers } = placeIn(raw, undefined);
  const path = ["gateway", "state"];
  const written = valueAt(raw.table, path);
  if (written !== undefined && typeof written !== "string")
    throw new ConfigError(reportProblems([{ path, text: "expected the path of a folder" }], raw));
  const state = stateFolder(raw, written);
  const tables: readonly unknown[] = Array.isArray(raw.table.servers) ? raw.table.servers : [];
  return {
    gateway: { naming: gateway.naming, ...(state !== undefined && { state }) },
    servers: servers.map(({ id, segment }) => {
      const table = tables.find((one) => valueAt(one, ["id"]) === id);
      return { id, segment, pin: pinSchema.safeParse(valueAt(table, ["pin"])).data ?? "report" };
    }),
  };
}

const { pin: pinSchema } = serverSchema.shape;

/** Beside the file that names it, or the nearest one. The demo has none: it remembers nothing. */
export function stateFolder({ originOf, files: [nearest] }: RawConfig, given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(originOf(["gateway", "state"])?.folder ?? "", given);
  return nearest === undefined ? undefined : resolve(dirname(nearest), STATE_FOLDER);
}
