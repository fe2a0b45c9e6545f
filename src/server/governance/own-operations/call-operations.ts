import * as z from "zod";
import {
  type AuditTrail,
  type Clock,
  GatewayError,
  identityOf,
  isSeenBy,
  type Operation,
  type Run,
  shownText,
  tenantOf,
} from "../../../contract/index.ts";
import { plainTarget } from "../../../mechanisms/audit/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { sessionName } from "../../../mechanisms/sessions/index.ts";
import type { LiveParts } from "../live-parts.ts";
import type { Word } from "../words-to-all.ts";
import { happened } from "./happened.ts";

const finishedShape = z.object({
  callId: z.string(),
  target: z.string(),
  principal: z.string(),
  front: z.string(),
  code: z.string(),
  startedAt: z.string(),
  durationMs: z.number(),
  steps: z.array(z.object({ name: z.string(), ms: z.number() })),
});

const runningShape = z.object({
  callId: z.string(),
  target: z.string(),
  principal: z.string(),
  tenant: z.string(),
  front: z.string(),
  protocol: z.string(),
  session: z.string().optional().describe("As `/api/sessions` calls it."),
  remainingMs: z.number().describe("Until its deadline."),
});

export type CallOperationParts = {
  readonly live: LiveParts;
  readonly clock: Clock;
  readonly trail: () => AuditTrail;
  readonly tellAll: (word: Word) => void;
};

/** How many of the last calls are told at once. */
const SHOWN_CALLS = 100;
const SHOWN_RUNNING = 1_000;
const callId = z.string().min(1).max(256);

export function callOperations({ live, clock, trail, tellAll }: CallOperationParts): readonly Operation[] {
  const running = (looking: string | undefined) => live.runs().filter(({ call }) => isSeenBy(call.principal, looking));
  const show = (run: Run) => shown(run, clock.now());
  return [
    operation({
      id: "calls.list",
      method: "GET",
      path: "/api/calls",
      summary: "The calls that run in this process, and how the last ones went, newest first.",
      role: "viewer",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(z.object({ calls: z.array(finishedShape), running: z.array(runningShape) })),
      run: async (_input, { principal }) => {
        const looking = tenantOf(principal);
        const open = running(looking).slice(0, SHOWN_RUNNING).map(show);
        return { body: { calls: live.recent.list(SHOWN_CALLS, looking).map(copied), running: open } };
      },
    }),
    operation({
      id: "calls.get",
      method: "GET",
      path: "/api/calls/{id}",
      summary: "One call: how it went, or what is known of it while it runs.",
      role: "viewer",
      input: schemaOf(z.strictObject({ id: callId })),
      output: schemaOf(z.union([finishedShape, runningShape])),
      run: async ({ id }, { principal }) => {
        const looking = tenantOf(principal);
        const open = running(looking).find((run) => run.id === id);
        const report = open ? undefined : live.recent.find(id, looking);
        if (open) return { body: show(open) };
        if (report) return { body: copied(report) };
        throw new GatewayError("NO_SUCH_TARGET", { message: "No such call among the last ones of this process." });
      },
    }),
    operation({
      id: "calls.cancel",
      method: "POST",
      path: "/api/calls/{id}/cancel",
      summary: "Cancels a call that runs. 202: it is not in this process, and the others were told.",
      role: "operator",
      input: schemaOf(
        z.strictObject({ id: callId, body: z.strictObject({ reason: z.string().max(1_000).optional() }).optional() }),
      ),
      run: async ({ id, body }, { principal }) => {
        const looking = tenantOf(principal);
        const reason = body?.reason ?? "an operator cancelled the call";
        const run = running(looking).find((one) => one.id === id);
        const event = happened("dev.isthmus.call.cancelled", principal, { call: id, reason });
        if (run) {
          await trail().commit(event, []);
          run.cancel(reason);
          return {};
        }
        if (!live.channel) {
          throw new GatewayError("NO_SUCH_TARGET", { message: "No such call runs in this process." });
        }
        await trail().commit({ ...event, result: "PENDING" }, []);
        tellAll({ do: "cancel-call", id, tenant: looking, reason });
        return { status: 202 };
      },
    }),
  ];
}

type Report = ReturnType<LiveParts["recent"]["list"]>[number];

function copied({ steps, ...report }: Report): z.output<typeof finishedShape> {
  return { ...report, steps: [...steps] };
}

function shown({ id, call }: Run, now: number): z.output<typeof runningShape> {
  const { target, principal, origin, session, deadline } = call;
  return {
    callId: id,
    target: `${target.provider}/${shownText(plainTarget(target))}`,
    principal: principal.id,
    tenant: identityOf(principal).tenant,
    front: origin.front,
    protocol: origin.protocol,
    ...(session && !session.isEphemeral && { session: sessionName(session.id) }),
    remainingMs: Math.max(0, Math.round(deadline - now)),
  };
}
