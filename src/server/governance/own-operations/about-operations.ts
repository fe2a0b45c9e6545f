import * as z from "zod";
import {
  type AuditTrail,
  type EventFeed,
  GatewayError,
  identityOf,
  type Operation,
  type Principal,
  requirePlatform,
  tenantOf,
} from "../../../contract/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { ConfigError } from "../../config/index.ts";
import { VERSION } from "../../version.ts";
import type { LiveParts } from "../live-parts.ts";
import { happened } from "./happened.ts";

export type AboutParts = {
  readonly live: LiveParts;
  readonly trail: () => AuditTrail;
  readonly feed: EventFeed;
  /** Whether callers are known, and none of them may use anything. */
  readonly grantsNothing: () => boolean;
  readonly knowsCallers: () => boolean;
  readonly kept: () => Kept;
};

/** Where what operators set is, and the audit trail. */
const KEPT = ["stores", "memory", "restart"] as const;
export type Kept = (typeof KEPT)[number];

export function aboutOperations({
  live,
  trail,
  feed,
  grantsNothing,
  knowsCallers,
  kept,
}: AboutParts): readonly Operation[] {
  return [
    operation({
      id: "about.get",
      method: "GET",
      path: "/api/about",
      summary: "What this is, and who asks.",
      role: "caller",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(
        z.object({
          name: z.literal("isthmus"),
          version: z.string(),
          process: z.string().describe("How this process is known to the others; empty where there are none."),
          principal: z.string(),
          user: z.string().describe("Whom grants name."),
          tenant: z.string(),
          role: z.enum(["viewer", "operator", "admin"]).nullable(),
          knowsCallers: z.boolean().describe("Whether callers are asked who they are; if not, each is the local user."),
          grantsNothing: z
            .boolean()
            .describe("Whether callers are asked who they are, and nothing lets any of them use anything."),
          kept: z
            .enum(KEPT)
            .describe(
              "Where grants, tokens and the audit trail are: in the stores; in memory until the process ends; or in memory until a restart, because the config that names stores came after the start.",
            ),
          isStale: z.boolean().describe("Whether the config on disk was refused, and an older one is in force."),
          config: z
            .array(z.string())
            .optional()
            .describe(
              "The files that it follows, none for the demo. Unset for whoever is not known as an operator of the platform.",
            ),
        }),
      ),
      run: async (_input, { principal }) => {
        const { tenant, user, role = null } = identityOf(principal);
        const files = isKnownOperator(principal) ? live.following()?.source.files : undefined;
        const body = {
          name: "isthmus",
          version: VERSION,
          process: live.member(),
          principal: principal.id,
          user,
          tenant,
          role,
          knowsCallers: knowsCallers(),
          grantsNothing: grantsNothing(),
          kept: kept(),
          isStale: live.following()?.isStale() ?? false,
          ...(files && { config: [...files] }),
        } as const;
        return { body };
      },
    }),
    operation({
      id: "config.reload",
      method: "POST",
      path: "/api/config/reload",
      summary: "Reads the config again and takes it over. 422: it cannot be used, and nothing has changed.",
      role: "admin",
      input: schemaOf(z.strictObject({})),
      run: async (_input, { principal }) => {
        requirePlatform(principal);
        const following = live.following();
        if (!following)
          throw new GatewayError("CONFLICT", { message: "This gateway was started without a config to read." });
        checkConfig(() => following.source.read(live.config()));
        await trail().commit(happened("dev.isthmus.config.reloaded", principal, {}), []);
        await following.reload();
        return {};
      },
    }),
    operation({
      id: "events.listen",
      method: "GET",
      path: "/api/events",
      summary: "What happens in this process, as it happens: calls, refusals, grants, approvals, changes.",
      role: "viewer",
      isStream: true,
      input: schemaOf(z.strictObject({ type: z.string().max(256).optional().describe("Only events of this type.") })),
      run: async ({ type }, { principal }) => {
        const looking = tenantOf(principal);
        return {
          events(write, signal) {
            const stop = feed.listen((event) => {
              if (looking !== undefined && event.tenant !== looking) return;
              if (type === undefined || event.type === type) write(event.type, event.json);
            });
            signal.addEventListener("abort", stop, { once: true });
          },
        };
      },
    }),
  ];
}

/** Known by more than being able to connect. */
function isKnownOperator(principal: Principal): boolean {
  const { role, proof } = identityOf(principal);
  const isOperator = role === "operator" || role === "admin";
  return isOperator && proof !== "local" && proof !== "none" && tenantOf(principal) === undefined;
}

/** What is wrong with a config, as a refusal of whoever wanted it. */
export function checkConfig(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((message) => ({ path: "", message }));
    throw new GatewayError("BAD_CALL", { message: "The config cannot be used.", details: { problems } });
  }
}
