/** What one client has told this server, and the requests that tell it. */
import type { Call } from "../offers/call.ts";
import { checkLevel } from "../offers/log-levels.ts";
import { findResource } from "../offers/resources.ts";
import type { Json } from "../sdk.ts";
import { type SessionTasks, taskMethods } from "./tasks.ts";

export type Session = {
  /** Undefined until the client has chosen one: everything is sent. */
  logLevel: string | undefined;
  readonly subscriptions: Set<string>;
  readonly tasks: SessionTasks;
};

export const sessionMethods: Readonly<Record<string, (call: Call, session: Session) => Json | Promise<Json>>> = {
  ...taskMethods,
  "logging/setLevel": ({ params }, session) => {
    session.logLevel = checkLevel(params.level);
    return {};
  },
  "resources/subscribe": ({ params }, { subscriptions }) => {
    subscriptions.add(findResource(String(params.uri)).listed.uri);
    return {};
  },
  "resources/unsubscribe": ({ params }, { subscriptions }) => {
    subscriptions.delete(String(params.uri));
    return {};
  },
};
