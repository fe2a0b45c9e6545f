/** The `[[limits]]` tables: how much of what whom is served. Operators add to them while the gateway runs. */
import * as z from "zod";
import { matchesPattern } from "../../contract/index.ts";
import type { LimitEntry } from "../../mechanisms/limits/index.ts";
import {
  isCountable,
  limitBudget,
  limitCapacity,
  limitConcurrency,
  limitPattern,
  limitPer,
  limitRefill,
  NOT_EXACT,
  NOTHING_LIMITED,
  rateOf,
} from "../../mechanisms/limits/limit-schema.ts";
import { checkPattern } from "./check-catalogs.ts";
import { didYouMean } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { READ_ONCE } from "./read-once.ts";

export const limitSchema = z.lazy(() =>
  z
    .strictObject({
      server: limitPattern
        .optional()
        .describe("Calls on which servers, by id. Everywhere here `*` stands for any text; unset: all."),
      primitive: limitPattern
        .optional()
        .describe(
          'Calls of which tools, prompts and resources, by dotted name: "crm.search"; with `server`, also by the name alone.',
        ),
      user: limitPattern.optional().describe("Calls of which users."),
      client: limitPattern
        .optional()
        .describe("Calls of which clients: the hash of a token, or the id that an issuer gave."),
      tenant: limitPattern.optional().describe("Calls of which tenants."),
      per: limitPer.default([]),
      capacity: limitCapacity.optional(),
      refill: limitRefill.optional(),
      concurrency: limitConcurrency.optional(),
      budget: limitBudget.optional(),
    })
    .superRefine((limit, context) => {
      const fail = (message: string, path: string[] = []) => context.addIssue({ code: "custom", message, path });
      const { capacity, refill, concurrency, budget } = limit;
      if (capacity !== undefined && refill === undefined)
        fail('expected refill beside capacity, such as "1/s"', ["refill"]);
      if (capacity === undefined && refill !== undefined) fail("expected capacity beside refill", ["capacity"]);
      if (capacity === undefined && refill === undefined && concurrency === undefined && budget === undefined) {
        fail(NOTHING_LIMITED);
      }
      if (capacity !== undefined && refill !== undefined && !isCountable({ capacity, refill })) {
        fail(NOT_EXACT, ["capacity"]);
      }
    })
    .describe("Each limit: what it is for, and how much of that there is. A call must pass all that are for it."),
);

/** What must hold among the tables and the servers: a limit for nothing limits nothing. */
export function checkLimits(raw: unknown, segments: ReadonlyMap<string, string>): Problem[] {
  const ids = [...segments.keys()];
  // Of a server without a segment any name may be, and any URI.
  const isAnybodys = [...segments.values()].includes("");
  return (Array.isArray(raw) ? raw : []).flatMap((table, place): Problem[] => {
    const parsed = limitSchema.safeParse(table, READ_ONCE);
    if (!parsed.success) return [];
    const { server = "*", primitive = "*" } = parsed.data;
    if (server !== "*" && !ids.some((id) => matchesPattern(server, id))) {
      const found = `found ${JSON.stringify(server)}${didYouMean(server, ids)}`;
      return [{ path: ["limits", place, "server"], text: `expected the id of a server in this file, ${found}` }];
    }
    // Beside a server the name alone is enough.
    if (primitive === "*" || server !== "*" || isAnybodys) return [];
    return checkPattern(primitive, segments).map((text) => ({ path: ["limits", place, "primitive"], text }));
  });
}

export function limitEntryOf(table: z.output<typeof limitSchema>): LimitEntry {
  const { capacity, refill, concurrency, budget, per, ...selector } = table;
  const rate = capacity === undefined || refill === undefined ? undefined : rateOf(capacity, refill);
  return { selector, per, rate, concurrency, budget };
}

const rate = z.strictObject({ capacity: limitCapacity, refill: limitRefill }).refine(isCountable, { error: NOT_EXACT });

export const edgeSchema = z
  .strictObject({
    address: rate.optional().describe('What each address may send: `{ capacity = 2000, refill = "500/s" }`.'),
    token: rate.optional().describe("What may be sent with each token, before anybody has looked at it."),
  })
  .describe(
    "Keeps floods away before anybody looks at them: whoever sends more gets status 429. Unset: nobody is kept away.",
  );

/** Undefined where nothing is kept away. */
export function edgeOf(table: z.output<typeof edgeSchema> | undefined): EdgeConfig | undefined {
  if (table?.address === undefined && table?.token === undefined) return undefined;
  const { address, token } = table;
  return {
    ...(address && { address: rateOf(address.capacity, address.refill) }),
    ...(token && { token: rateOf(token.capacity, token.refill) }),
  };
}

export type EdgeConfig = { readonly address?: LimitEntry["rate"]; readonly token?: LimitEntry["rate"] };
