/**
 * MCP as a table, the same for every revision: which method is which verb on which kind, and where its name stands.
 * A revision says which of these exist in it.
 */
import { type AskKind, type ListedKind, type Payload, unambiguousAt, type Verb } from "../../contract/index.ts";

/** A method that becomes a call on a primitive. `path`: where in params the primitive is named. */
export type CallRoute = {
  readonly verb: Verb;
  readonly kinds: readonly ListedKind[];
  readonly path: readonly string[];
};

export const CALL_ROUTES: Readonly<Record<string, CallRoute>> = {
  "tools/call": { verb: "call", kinds: ["tool"], path: ["name"] },
  "prompts/get": { verb: "get", kinds: ["prompt"], path: ["name"] },
  "resources/read": { verb: "read", kinds: ["resource"], path: ["uri"] },
  "resources/subscribe": { verb: "subscribe", kinds: ["resource"], path: ["uri"] },
  "resources/unsubscribe": { verb: "subscribe", kinds: ["resource"], path: ["uri"] },
};

/** A completion names a prompt or a template, by `ref.type`. */
export const COMPLETE_REFS: Readonly<Record<string, { kind: ListedKind; path: readonly string[] }>> = {
  "ref/prompt": { kind: "prompt", path: ["ref", "name"] },
  "ref/resource": { kind: "template", path: ["ref", "uri"] },
};

export type ListRoute = {
  readonly kind: ListedKind;
  readonly member: string;
  readonly nameKey: string;
  readonly capability: string;
};

export const LIST_ROUTES: Readonly<Record<string, ListRoute>> = {
  "tools/list": { kind: "tool", member: "tools", nameKey: "name", capability: "tools" },
  "resources/list": { kind: "resource", member: "resources", nameKey: "uri", capability: "resources" },
  "resources/templates/list": {
    kind: "template",
    member: "resourceTemplates",
    nameKey: "uriTemplate",
    capability: "resources",
  },
  "prompts/list": { kind: "prompt", member: "prompts", nameKey: "name", capability: "prompts" },
};

/** The notification that says a list of that kind has changed. */
export const LIST_CHANGED: Readonly<Record<ListedKind, string>> = {
  tool: "notifications/tools/list_changed",
  resource: "notifications/resources/list_changed",
  template: "notifications/resources/list_changed",
  prompt: "notifications/prompts/list_changed",
};

/** A client's word that its roots have changed. */
export const ROOTS_CHANGED = "notifications/roots/list_changed";

/** What a server may ask a client. */
export const ASK_METHODS: Readonly<Record<string, AskKind>> = {
  "elicitation/create": "elicit",
  "sampling/createMessage": "sample",
  "roots/list": "roots",
};

export const TASK_METHODS: readonly string[] = ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"];

/** Where messages say which task they belong to. */
export const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Whether an error only says that pages must be opened before the call is made again. */
export function asksForPages(error: Payload): boolean {
  return unambiguousAt(error, ["code"]) === "-32042";
}

/** From least to most severe. */
export const LOG_LEVELS: readonly string[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
