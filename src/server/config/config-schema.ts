/**
 * The whole file: the sum of what each part declares beside its code. What most files have none of is `z.lazy`: building all of
 * it took a tenth of a start.
 */
import * as z from "zod";
import { MAX_ENTRIES } from "../../mechanisms/limits/limit-entry.ts";
import { accessSchema } from "./access-config.ts";
import { auditSchema } from "./audit-config.ts";
import { authSchema } from "./auth-config.ts";
import { catalogSchema } from "./catalog-config.ts";
import { gateSchema } from "./gate-config.ts";
import { gatewaySchema } from "./gateway-config.ts";
import { limitSchema } from "./limits-config.ts";
import { serverSchema } from "./server-config.ts";
import { clusterSchema, databaseSchema, sharedSchema } from "./state-config.ts";
import { telemetrySchema } from "./telemetry-config.ts";
import { vaultSchema } from "./vault-config.ts";

export const configSchema = z
  .strictObject({
    gateway: gatewaySchema.prefault({}),
    servers: z.array(serverSchema).default([]),
    catalogs: z.array(catalogSchema).default([]),
    access: accessSchema.prefault({}),
    audit: auditSchema.optional(),
    auth: authSchema.prefault({}),
    gate: gateSchema.prefault({}),
    limits: z.array(limitSchema).max(MAX_ENTRIES).default([]),
    telemetry: telemetrySchema.prefault({}),
    vault: vaultSchema.prefault({}),
    database: databaseSchema.prefault({}),
    shared: sharedSchema.prefault({}),
    cluster: clusterSchema.prefault({}),
  })
  .describe("`isthmus.toml`. Durations are written as `500ms`, `30s`, `2m`, `1h`; sizes as `64KB`, `1MiB`.");
