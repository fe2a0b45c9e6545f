import * as z from "zod";
import {
  type AuditTrail,
  type Clock,
  GatewayError,
  identityOf,
  isSeenBy,
  type Operation,
  tenantOf,
} from "../../../contract/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { type Session, sessionName } from "../../../mechanisms/sessions/index.ts";
import type { LiveParts } from "../live-parts.ts";
import type { Word } from "../words-to-all.ts";
import { happened } from "./happened.ts";

const sessionShape = z.object({
  id: z.string().describe("What it is called here. Its client knows it by another id, which nobody else is told."),
  owner: z.string().describe("The process in which it lives."),
  tenant: z.string(),
  user: z.string(),
  client: z.string(),
  catalog: z.string(),
  protocol: z.string(),
  startedAt: z.string(),
  idleMs: z.number(),
  isBusy: z.boolean(),
  waiting: z.number().describe("Messages that its client has not got yet."),
});

export type SessionOperationParts = {
  readonly live: LiveParts;
  readonly clock: Clock;
  readonly trail: () => AuditTrail;
  readonly tellAll: (word: Word) => void;
};

const SHOWN_SESSIONS = 1_000;
const sessionId = z.string().min(1).max(256);

export function sessionOperations({ live, clock, trail, tellAll }: SessionOperationParts): readonly Operation[] {
  const seen = (looking: string | undefined) =>
    live.sessions.list().filter((session) => !session.isUnnamed && isSeenBy(session.principal, looking));
  const named = (name: string, looking: string | undefined) => seen(looking).find(({ id }) => sessionName(id) === name);
  const show = (session: Session) => shown(session, clock.now(), live.member());
  return [
    operation({
      id: "sessions.list",
      method: "GET",
      path: "/api/sessions",
      summary: "The client sessions that live in this process, at most 1000 of them.",
      role: "viewer",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(z.object({ sessions: z.array(sessionShape), total: z.number() })),
      run: async (_input, { principal }) => {
        const all = seen(tenantOf(principal));
        return { body: { sessions: all.slice(0, SHOWN_SESSIONS).map(show), total: all.length } };
      },
    }),
    operation({
      id: "sessions.get",
      method: "GET",
      path: "/api/sessions/{id}",
      summary: "One session that lives in this process.",
      role: "viewer",
      input: schemaOf(z.strictObject({ id: sessionId })),
      output: schemaOf(sessionShape),
      run: async ({ id }, { principal }) => {
        const session = named(sessionName(id), tenantOf(principal));
        if (!session) throw noSuchSession();
        return { body: show(session) };
      },
    }),
    operation({
      id: "sessions.end",
      method: "DELETE",
      path: "/api/sessions/{id}",
      summary: "Ends a session, and the calls in it. 202: it is not in this process, and the others were told.",
      role: "operator",
      input: schemaOf(z.strictObject({ id: sessionId })),
      run: async ({ id }, { principal }) => {
        const looking = tenantOf(principal);
        const name = sessionName(id);
        const session = named(name, looking);
        const event = happened("dev.isthmus.session.ended", principal, { session: name });
        if (session) {
          await trail().commit(event, []);
          await live.sessions.finish(session, "an operator ended the session");
          return {};
        }
        if (!live.channel) throw noSuchSession();
        await trail().commit({ ...event, result: "PENDING" }, []);
        tellAll({ do: "end-session", id: name, tenant: looking });
        return { status: 202 };
      },
    }),
  ];
}

function noSuchSession(): GatewayError {
  return new GatewayError("NO_SUCH_TARGET", { message: "There is no such session in this process." });
}

function shown(session: Session, now: number, owner: string): z.output<typeof sessionShape> {
  const { id, catalog, protocol, principal, outbox, startedAt, lastUsed, isBusy } = session;
  const { tenant, user, client } = identityOf(principal);
  return {
    id: sessionName(id),
    owner,
    tenant,
    user,
    client,
    catalog,
    protocol,
    startedAt: new Date(Date.now() - (now - startedAt)).toISOString(),
    idleMs: Math.max(0, Math.round(now - lastUsed)),
    isBusy,
    waiting: outbox ? Math.max(0, outbox.last - outbox.sent) : 0,
  };
}
