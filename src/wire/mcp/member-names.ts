/**
 * What MCP calls the members of params. Judges read them by these names, so no message has one of them in another spelling,
 * which a server might read. Inside `arguments` names are the tool's, and beside these anybody may add more.
 */
import {
  JsonFault,
  MAX_MEMBERS,
  type Members,
  ONCE_KEY,
  REQUESTER_KEY,
  Scanner,
  SpecifiedNames,
} from "../../contract/index.ts";
import { ENVELOPE_KEYS } from "./2026-07-28/envelope.ts";
import { LIST_ROUTES, RELATED_TASK } from "./model.ts";

const ROUND = ["requestState", "inputResponses"];
const PAGED = [...Object.keys(LIST_ROUTES), "tasks/list"];

/** Beside `_meta`, what somebody reads or puts in on the way. */
const BY_METHOD: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(PAGED.map((method) => [method, ["cursor"]])),
  initialize: ["protocolVersion", "capabilities", "clientInfo"],
  "tools/call": ["name", "arguments", "task", ...ROUND],
  "prompts/get": ["name", "arguments", ...ROUND],
  "resources/read": ["uri", ...ROUND],
  "resources/subscribe": ["uri"],
  "resources/unsubscribe": ["uri"],
  "completion/complete": ["ref", "argument", "context"],
  "logging/setLevel": ["level"],
  "subscriptions/listen": ["notifications"],
  "tasks/get": ["taskId"],
  "tasks/result": ["taskId"],
  "tasks/cancel": ["taskId"],
  "tasks/update": ["taskId", "inputResponses"],
  "elicitation/create": ["mode", "message", "requestedSchema", "url", "elicitationId", "task"],
  "sampling/createMessage": ["includeContext", "tools", "toolChoice", "task"],
  "notifications/cancelled": ["requestId"],
  "notifications/elicitation/complete": ["elicitationId"],
  "notifications/message": ["level"],
  "notifications/progress": ["progressToken"],
  "notifications/resources/updated": ["uri"],
  "notifications/tasks/status": ["taskId"],
};

const PARAMS: ReadonlyMap<string, SpecifiedNames> = new Map(
  Object.entries(BY_METHOD).map(([method, names]) => [method, new SpecifiedNames(["_meta", ...names])]),
);
/** Of methods that are not ours: what they call `meta` is theirs. */
const ONLY_META = new SpecifiedNames(["_meta"]);

const META = new SpecifiedNames([
  "progressToken",
  ...Object.values(ENVELOPE_KEYS),
  RELATED_TASK,
  ONCE_KEY,
  REQUESTER_KEY,
]);

/** Of params that are objects themselves. */
const INNER: ReadonlyMap<string, SpecifiedNames> = new Map([
  ["ref", new SpecifiedNames(["type", "name", "uri"])],
  ["argument", new SpecifiedNames(["name", "value"])],
  ["context", new SpecifiedNames(["arguments"])],
  ["task", new SpecifiedNames(["ttl"])],
]);
const HAS_INNER = new SpecifiedNames([...INNER.keys()]);

/** The name of which a key in the params is another spelling. `knownMeta`: the text of a `_meta` that has none. Throws JsonFault. */
export function misspelledParam(method: string, params: Members, knownMeta: string): string | undefined {
  const own = PARAMS.get(method);
  const keys = params.keys;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const other = own ? own.misspelled(key) : key.startsWith("_") ? ONLY_META.misspelled(key) : undefined;
    if (other !== undefined) return other;
    const names = key === "_meta" ? META : HAS_INNER.has(key) && own?.has(key) ? INNER.get(key) : undefined;
    if (!names || (names === META && params.isText(key, knownMeta))) continue;
    const inner = misspelledIn(params.textAt(index), names);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function misspelledIn(text: string, names: SpecifiedNames): string | undefined {
  if (text.charCodeAt(0) !== 123) return undefined;
  let found: string | undefined;
  let keys = 0;
  new Scanner(text).members(1, (key, _start, _end, keyStart) => {
    if (++keys > MAX_MEMBERS) throw new JsonFault("members", keyStart, `more than ${MAX_MEMBERS} keys`);
    found ??= names.misspelled(key);
  });
  return found;
}
