/** Where the gateway of a config is: all that a client of it reads. What it is made of may be known to another process only. */

import { segmentFor } from "./check-servers.ts";
import type { Config, GatewayConfig, ServerConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { gatewaySchema } from "./gateway-config.ts";
import { parseListen } from "./listen-address.ts";
import { givenBy, reportProblems, valueAt } from "./problem.ts";
import type { RawConfig } from "./read-config.ts";

/** A whole config is one, too. */
export type GatewayPlace = {
  readonly gateway: Pick<GatewayConfig, "listen" | "naming"> & { readonly tls?: unknown };
  readonly servers: readonly Pick<ServerConfig, "id" | "segment">[];
  /** The files it was read from; none: it is the demo. */
  readonly files?: readonly string[];
  /** Why the files cannot be read whole; unset: they can. What is known of the place is then what can be read. */
  readonly problems?: readonly string[];
};

/** An address, and the option or variable that names it. */
export type GivenListen = { readonly listen: string; readonly by: string };

/** `given`: the address that counts instead. Throws ConfigError where no address can be made out. */
export function placeIn(raw: RawConfig, given: GivenListen | undefined): GatewayPlace {
  const path = ["gateway", "listen"];
  const defaults = gatewaySchema.parse({});
  const written = given?.listen ?? valueAt(raw.table, path) ?? defaults.listen;
  const listen = typeof written === "string" ? parseListen(written) : undefined;
  if (!listen) {
    const text = `expected HOST:PORT such as ${defaults.listen}, found ${JSON.stringify(written)}`;
    const originOf = given === undefined ? raw.originOf : () => givenBy(given.by);
    throw new ConfigError(reportProblems([{ path, text }], { table: raw.table, originOf }));
  }
  const naming: Config["gateway"]["naming"] =
    valueAt(raw.table, ["gateway", "naming"]) === "underscore" ? "underscore" : defaults.naming;
  const tls = valueAt(raw.table, ["gateway", "tls"]);
  return { gateway: { listen, naming, ...(tls !== undefined && { tls }) }, servers: serversIn(raw.table.servers) };
}

/** The same with an address that is none left out. Throws ConfigError where the one that is `given` is none. */
export function placeLeftIn(raw: RawConfig, given: GivenListen | undefined): GatewayPlace {
  const { listen, ...gateway } = objectAt(raw.table.gateway);
  const isAddress = typeof listen === "string" && parseListen(listen) !== undefined;
  const table = { ...raw.table, gateway: { ...gateway, ...(isAddress && { listen }) } };
  return placeIn({ ...raw, table }, given);
}

function objectAt(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function serversIn(written: unknown): GatewayPlace["servers"] {
  if (!Array.isArray(written)) return [];
  return written.flatMap((table: unknown) => {
    const [id, prefix] = [valueAt(table, ["id"]), valueAt(table, ["prefix"])];
    if (typeof id !== "string" || valueAt(table, ["disabled"]) === true) return [];
    return [{ id, segment: segmentFor({ id, prefix: typeof prefix === "string" ? prefix : undefined }) }];
  });
}
