/** What the gateway declares about itself: what the providers of a view declared, joined. */
import { type JsonFault, jsonText, type Payload, type ProviderFacts, type View } from "../../contract/index.ts";

const LISTS = ["tools", "resources", "prompts"] as const;

/** The capabilities of a view as JSON text. Lists change under the gateway's own hand, so it always tells. */
export function capabilitiesText(view: View): string {
  const [only] = view.providers;
  if (view.providers.length === 1 && only?.about) return withListChanged(only.about.capabilities);
  let merged: unknown = {};
  for (const provider of view.providers) merged = merge(merged, declaredBy(provider));
  const entries = Object.entries(merged as object);
  for (const list of LISTS) {
    const index = entries.findIndex(([key]) => key === list);
    if (index >= 0) entries[index] = [list, merge({ listChanged: true }, entries[index]?.[1])];
  }
  return jsonText(Object.fromEntries(entries));
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
    return provider.about.capabilities.value();
  } catch (error) {
    // A repeated key: two readers would see two different declarations, so it declares nothing.
    if ((error as JsonFault).name === "JsonFault") return {};
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

/** One provider's text exactly; several under a heading each. Undefined when none has any. */
export function instructionsOf(view: View): string | undefined {
  const [only] = view.providers;
  if (view.providers.length === 1) return only?.about?.instructions;
  const parts = view.providers
    .filter((provider) => provider.about?.instructions)
    .map((provider) => `# ${provider.id}\n\n${provider.about?.instructions}`);
  return parts.length === 0 ? undefined : parts.join("\n\n");
}
