/** A session as the other processes see it: everything that whoever takes it over must know. */
import { type Payload, payload } from "../../contract/index.ts";
import type { Session, Subscription } from "./session.ts";

/** Times are everybody's, in ms. Texts have one character per byte, as on the wire. */
export type SessionRecord = {
  readonly version: 1;
  readonly principal: string;
  readonly catalog: string;
  readonly protocol: string;
  readonly capabilities: string;
  readonly clientInfo: string;
  readonly canBeAsked: boolean;
  readonly isPeer?: boolean;
  readonly createdAt: number;
  readonly lastSeen: number;
  /** What its client sees was ready once. */
  readonly isEntered: boolean;
  readonly logLevel?: string;
  readonly subscriptions: readonly Subscription[];
  /** Which lists the client was told of. */
  readonly seen?: Readonly<Record<string, number>>;
  /** Its own stream was sent everything up to this number. */
  readonly sent: number;
};

/** `epoch`: from our clock to everybody's. */
export function recordText(session: Session, epoch: number): string {
  const record: SessionRecord = {
    version: 1,
    principal: session.principal.id,
    catalog: session.catalog,
    protocol: session.protocol,
    capabilities: session.capabilities.text,
    clientInfo: session.clientInfo.text,
    canBeAsked: session.canBeAsked,
    ...(session.isPeer && { isPeer: true }),
    createdAt: session.startedAt + epoch,
    lastSeen: session.lastUsed + epoch,
    isEntered: session.isEntered,
    ...(session.logLevel !== undefined && { logLevel: session.logLevel }),
    subscriptions: [...(session.subscriptions?.values() ?? [])],
    ...(session.seen && { seen: session.seen }),
    sent: session.outbox?.sent ?? 0,
  };
  return JSON.stringify(record);
}

/** Undefined for what another release wrote in a form that we do not know. */
export function readRecord(text: string): SessionRecord | undefined {
  const record = JSON.parse(text) as SessionRecord;
  return record.version === 1 ? record : undefined;
}

/** What the client declared, each text kept once. */
export function declaredBy(
  record: SessionRecord,
  intern: (text: string) => Payload = payload,
): { readonly capabilities: Payload; readonly clientInfo: Payload } {
  return { capabilities: intern(record.capabilities), clientInfo: intern(record.clientInfo) };
}
