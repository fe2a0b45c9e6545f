/** What the gateway declares about itself: what the providers of a view declared, joined. */
import {
  decodeString,
  JsonFault,
  jsonText,
  type Payload,
  type ProviderFacts,
  payload,
  type View,
} from "../../contract/index.ts";
import { TASKS_EXTENSION } from "../../wire/mcp/2026-07-28/index.ts";
import { withoutDialects } from "../../wire/mgp/index.ts";

const LISTS = ["tools", "resources", "prompts"] as const;

/** The capabilities of a view as JSON text. Lists change under the gateway's own hand, so it always tells. */
export function capabilitiesText(view: View): string {
  const [only] = view.providers;
  if (view.providers.length === 1 && only?.about) return withListChanged(withoutDialects(only.about.capabilities));
  let merged: unknown = {};
  for (const provider of view.providers) merged = merge(merged, declaredBy(provider));
  const entries = Object.entries(merged as object);
  for (const list of LISTS) {
    const index = entries.findIndex(([key]) => key === list);
    if (index >= 0) entries[index] = [list, merge({ listChanged: true }, entries[index]?.[1])];
  }
  return jsonText(Object.fromEntries(entries));
}

/** Whether calls of some tool can go on as tasks, here or at their server. */
export function canMakeTasks(view: View): boolean {
  if (view.providers.some(({ about }) => about && hasTasks(about.capabilities))) return true;
  const { older, count } = view.list("tool");
  // Most lists have no such word, and then no tool has to be looked at.
  if (!older.slice(0, count).includes('"taskSupport"')) return false;
  for (let at = 0; at < count; at++) {
    const name = decodeString(payload(older.slice(at, at + 1)).at(["name"]));
    if (name !== undefined && view.resolve("tool", name)?.primitive.outlasts !== undefined) return true;
  }
  return false;
}

function hasTasks(capabilities: Payload): boolean {
  try {
    const own =
      capabilities.at(["tasks", "requests", "tools", "call"]) ?? capabilities.at(["extensions", TASKS_EXTENSION]);
    return own?.startsWith("{") === true;
  } catch (error) {
    if (error instanceof JsonFault) return false;
    throw error;
  }
}

function withListChanged(capabilities: Payload): string {
  let result = capabilities;
  for (const list of LISTS) {
    if (capabilities.at([list])?.startsWith("{")) result = result.splice([list, "listChanged"], "true");
  }
  return result.text;
}

/** A provider that is not up yet may offer anything: clients that look here first must not rule it out. */
function declaredBy(provider: ProviderFacts): unknown {
  if (!provider.about) return { tools: {}, resources: {}, prompts: {} };
  try {
    return withoutDialects(provider.about.capabilities).value();
  } catch (error) {
    // A repeated key: two readers would see two different declarations, so it declares nothing.
    if (error instanceof JsonFault) return {};
    throw error;
  }
}

/** Objects are joined member by member, true wins over false, otherwise what came first stays. */
function merge(first: unknown, second: unknown): unknown {
  if (first === undefined) return second;
  if (typeof first === "boolean" && typeof second === "boolean") return first || second;
  if (!isObject(first) || !isObject(second)) return first;
  const joined = new Map(Object.entries(first));
  for (const [key, value] of Object.entries(second)) joined.set(key, merge(joined.get(key), value));
  // fromEntries defines members; assigning would run the setter of a key like __proto__.
  return Object.fromEntries(joined);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the view itself says; else one provider's text exactly, or several under a heading each. Undefined when none has any. */
export function instructionsOf(view: View): string | undefined {
  if (view.instructions !== undefined) return view.instructions;
  const [only] = view.providers;
  if (view.providers.length === 1) return only?.about?.instructions;
  const parts = view.providers
    .filter((provider) => provider.about?.instructions)
    .map((provider) => `# ${provider.id}\n\n${provider.about?.instructions}`);
  return parts.length === 0 ? undefined : parts.join("\n\n");
}
