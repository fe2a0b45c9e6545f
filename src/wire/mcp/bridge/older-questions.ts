/** Forms for clients of revisions before 2025-11-25. */
import { JsonFault, jsonText, type Payload, Scanner, stringOf } from "../../../contract/index.ts";

const FIRST_WITH_FORMS = "2025-06-18";
const FIRST_WITH_TITLES = "2025-11-25";

/** The params of `elicitation/create` for a client of revision `version`; undefined when it cannot be asked this. */
export function olderQuestion(params: Payload, version: string): Payload | undefined {
  if (version < FIRST_WITH_FORMS) return undefined;
  if (version >= FIRST_WITH_TITLES) return params;
  try {
    return olderForm(params);
  } catch (error) {
    if (error instanceof JsonFault) return undefined; // two readers could read it differently
    throw error;
  }
}

function olderForm(params: Payload): Payload | undefined {
  const { mode, requestedSchema } = recordOf(params.value());
  if (mode === "url") return undefined;
  const older = new Map<string, string>();
  for (const [name, property] of Object.entries(recordOf(recordOf(requestedSchema).properties))) {
    const { type, oneOf, ...rest } = recordOf(property);
    // Several choices at once have no form there.
    if (type === "array") return undefined;
    if (!Array.isArray(oneOf)) continue;
    const choices = oneOf.map(recordOf);
    const enumNames = choices.map(({ const: value, title }) => title ?? value);
    const listed = { type, ...rest, enum: choices.map(({ const: value }) => value), enumNames };
    older.set(name, jsonText(listed));
  }
  return older.size === 0 ? params : withMembers(params, ["requestedSchema", "properties"], older);
}

/** In one pass over the text: there may be thousands. */
function withMembers(params: Payload, path: readonly string[], members: ReadonlyMap<string, string>): Payload {
  const text = params.at(path) ?? "{}";
  let edited = "";
  let copied = 0;
  new Scanner(text).members(1, (key, start, end) => {
    const json = members.get(nameOf(key));
    if (json === undefined) return;
    edited += text.slice(copied, start) + json;
    copied = end;
  });
  return params.splice(path, edited + text.slice(copied));
}

/** A key as it is called, however it is spelled. */
function nameOf(key: string): string {
  return key.includes("\\") ? String(JSON.parse(stringOf(`"${key}"`))) : stringOf(key);
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
