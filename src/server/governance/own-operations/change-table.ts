/** Tables of servers and catalogs that operators add while the gateway runs. */
import * as z from "zod";
import {
  type AuditTrail,
  DEFAULT_TENANT,
  GatewayError,
  type OperationContext,
  type PolicyEntry,
  requirePlatform,
} from "../../../contract/index.ts";
import { type AddedTables, ConfigError } from "../../config/index.ts";
import type { AddedByOperators } from "../added-by-operators.ts";
import type { LiveParts } from "../live-parts.ts";
import { checkConfig } from "./about-operations.ts";
import { happened } from "./happened.ts";

export type TableParts = {
  readonly live: LiveParts;
  readonly added: AddedByOperators;
  readonly trail: () => AuditTrail;
};

export const tableOrigin = z.enum(["config", "api"]).describe("Where its table stands.");

type Kind = "server" | "catalog";

/** Puts a table in the place of that of the same id; undefined: there is none any more. */
export function changer({ live, added, trail }: TableParts) {
  return async (kind: Kind, key: string, table: object | undefined, { principal, ifMatch }: OperationContext) => {
    requirePlatform(principal);
    const following = live.following();
    if (!following)
      throw new GatewayError("CONFLICT", { message: "This gateway was started without a config to add to." });
    const before = await added.isThere(kind, key);
    if (table === undefined && !before) {
      throw new GatewayError("NO_SUCH_TARGET", {
        message: `No ${kind} of that id was added here; what stands in the config is changed there.`,
      });
    }
    if (table !== undefined && !before && isConfigured(live, kind, key)) {
      throw new GatewayError("CONFLICT", { message: `The config has a ${kind} of that id.` });
    }
    const next = added.with(kind, key, table);
    checkConfig(() => {
      const { servers } = following.source.read(live.config(), next);
      const fault = table && servers.find(({ id }) => kind === "server" && id === key)?.fault;
      // In the config it stops nothing else; here there is somebody who can be told.
      if (fault !== undefined) throw new ConfigError([fault]);
    });
    const type = `dev.isthmus.${kind}.${table === undefined ? "removed" : "changed"}` as const;
    const event = happened(type, principal, { [kind]: key }, kind === "server" ? key : "");
    await added.change({
      trail: trail(),
      event,
      changes: [table === undefined ? removal(kind, key) : putting(kind, key, table, principal.id)],
      ...(ifMatch !== undefined && { ifVersion: versionOf(ifMatch) }),
    });
    await added.takeOver();
  };
}

function isConfigured({ config }: LiveParts, kind: Kind, key: string): boolean {
  const tables: AddedTables[keyof AddedTables] = kind === "server" ? config().servers : config().catalogs;
  return tables.some(({ id: other }) => other === key);
}

function putting(kind: Kind, key: string, table: object, updatedBy: string) {
  const entry: PolicyEntry = {
    tenant: DEFAULT_TENANT,
    kind,
    key,
    value: JSON.stringify(table),
    updatedAt: Date.now(),
    updatedBy,
  };
  return { table: "policy", type: "put", entry } as const;
}

function removal(kind: Kind, key: string) {
  return { table: "policy", type: "remove", tenant: DEFAULT_TENANT, kind, key } as const;
}

/** What is no number is no version: it is never the present one. */
function versionOf(tag: string): number {
  return /^\d{1,15}$/.test(tag) ? Number(tag) : -1;
}
