import type { ActorType, AuditEvent, AuditResult } from "../../contract/index.ts";

/** An event as it is kept and given out, in MGP's words. `details` always has the tenant, and an id that no other event has. */
export type KeptEvent = {
  readonly timestamp: string;
  readonly trace_id: string;
  readonly event_type: string;
  readonly actor: { readonly type: ActorType; readonly id: string };
  readonly target: { readonly server_id: string; readonly tool_name: string };
  readonly result: AuditResult;
  readonly details: Readonly<Record<string, unknown>> & { readonly id: string; readonly tenant: string };
};

export type Stamp = { readonly at: number; readonly id: string; readonly traceId: string };

/** One line of JSON. Whatever cannot be written as JSON is left out of it. */
export function eventLine(event: AuditEvent, { at, id, traceId }: Stamp): string {
  const { type, tenant, actor, target, result, details } = event;
  const kept: KeptEvent = {
    timestamp: new Date(at).toISOString(),
    trace_id: traceId,
    event_type: type,
    actor: { type: actor.type, id: actor.id },
    target: { server_id: target.server, tool_name: boundName(target.name) },
    result,
    details: { ...details, id, tenant },
  };
  const line = JSON.stringify(kept);
  return line.length <= MAX_LINE ? line : JSON.stringify({ ...kept, details: { id, tenant, cut: true } });
}

/** An event is a fact, and no document. */
const MAX_LINE = 65_536;
/** More than any URI that means one thing; the rest is left off, as `…` says. */
const MAX_NAME = 8192;

export function boundName(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

/** Undefined for what is no event. */
export function readEvent(line: string): KeptEvent | undefined {
  try {
    const event = JSON.parse(line) as KeptEvent;
    const isWhole = [event.timestamp, event.trace_id, event.event_type, event.actor.id, event.target.server_id].every(
      (word) => typeof word === "string",
    );
    return isWhole && typeof event.details.tenant === "string" ? event : undefined;
  } catch {
    return undefined;
  }
}
