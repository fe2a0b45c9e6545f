/** What a limit may say, in the config and in the list of a tenant: the same words in both. */
import * as z from "zod";
import {
  isExact,
  LIMIT_PER,
  type LimitRate,
  MAX_CAPACITY,
  MAX_CONCURRENCY,
  MAX_ENTRIES,
  MAX_PATTERN,
  parseRefill,
} from "./limit-entry.ts";

export const limitPattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN, { error: `expected at most ${MAX_PATTERN} characters` });

export const limitPer = z
  .array(z.enum(LIMIT_PER))
  .max(LIMIT_PER.length)
  .refine((per) => new Set(per).size === per.length, { error: "expected each word once" })
  .describe("What there is one of each for: by default all calls that are meant share one bucket.");

export const limitCapacity = z
  .int()
  .min(1)
  .max(MAX_CAPACITY)
  .describe("How many calls may come at once before the rate counts.");

const REFILL_ERROR = 'expected calls per second, minute, hour or day, such as "100/s", "30/m" or "0.5/s"';

export const limitRefill = z
  .string({ error: REFILL_ERROR })
  .refine((text) => parseRefill(text) !== undefined, { error: REFILL_ERROR })
  .describe('How many come back in which time: "100/s", "30/m", "1000/h", "5000/d".');

export const limitConcurrency = z.int().min(1).max(MAX_CONCURRENCY).describe("How many calls may run at once.");

export const limitBudget = z
  .int()
  .min(1)
  .max(MAX_CAPACITY)
  .describe("How many calls there are at all: nothing comes back. Waiting does not help who has spent it.");

/** Undefined: it cannot be counted exactly, or `refill` says nothing. */
export function rateOf(capacity: number, refill: string): LimitRate | undefined {
  const parsed = parseRefill(refill);
  if (parsed === undefined) return undefined;
  const rate = { capacity, ...parsed };
  return isExact(rate) ? rate : undefined;
}

/** Of a refill that says nothing somebody else complains. */
export function isCountable({ capacity, refill }: { readonly capacity: number; readonly refill: string }): boolean {
  return parseRefill(refill) === undefined || rateOf(capacity, refill) !== undefined;
}

export const NOT_EXACT = "too large to be counted exactly: take a smaller capacity, or a refill with fewer decimals";
export const NOTHING_LIMITED = "limits nothing: give capacity and refill, concurrency or budget";

// As it stands in the list of a tenant.

const selector = z.lazy(() =>
  z
    .strictObject({
      server: limitPattern.optional(),
      primitive: limitPattern.optional(),
      user: limitPattern.optional(),
      client: limitPattern.optional(),
      wcit: limitPattern.optional().describe("The same as `client`."),
    })
    .refine(({ client, wcit }) => client === undefined || wcit === undefined, {
      error: "client and wcit mean the same: give one of them",
    })
    .describe("Whose calls of what, each a value, a pattern with `*`, or left out for all."),
);

const policy = z.lazy(() =>
  z
    .strictObject({
      type: z.literal("token-bucket").optional(),
      capacity: limitCapacity,
      refill: limitRefill,
    })
    .refine(isCountable, { error: NOT_EXACT }),
);

export const tenantLimit = z.lazy(() =>
  z
    .strictObject({
      id: z.string().min(1).max(128).optional().describe("The operator's own name for it."),
      selector: selector.default({}),
      per: limitPer.optional(),
      policy: policy.optional(),
      concurrency: limitConcurrency.optional(),
      budget: limitBudget.optional(),
    })
    .refine(
      ({ policy: rate, concurrency, budget }) =>
        rate !== undefined || concurrency !== undefined || budget !== undefined,
      {
        error: NOTHING_LIMITED,
      },
    ),
);

export type TenantLimit = z.output<typeof tenantLimit>;

export const tenantLimits = z.array(tenantLimit).max(MAX_ENTRIES);
