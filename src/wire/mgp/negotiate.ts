/** Who speaks MGP with us, and which parts of it. A pure function of what a client declares and what is offered. */
import { JsonFault, jsonText, type Payload } from "../../contract/index.ts";

const MGP_VERSION = "0.3.0";

/** Where MGP is declared, in the order in which it is looked for: some SDKs let only one of them through. */
const PLACES = [
  ["mgp"],
  ["experimental", "mgp"],
  ["extensions", "dev.cloto/mgp"],
] as const satisfies readonly (readonly string[])[];

type Place = (typeof PLACES)[number];

export const MGP_EXTENSIONS = ["access_control", "audit"] as const;
export type MgpExtension = (typeof MGP_EXTENSIONS)[number];

/** What a client said: the extensions it named, known to us or not, and everywhere it said so. */
type Declaration = { readonly extensions: readonly string[]; readonly places: readonly Place[] };

/** Capabilities that are equal are one and the same payload. */
const DECLARED = new WeakMap<Payload, { readonly declaration: Declaration | undefined }>();

/** The extensions that are in force with a client of these capabilities; undefined: it does not speak MGP. */
export function negotiate(
  capabilities: Payload,
  offered: readonly MgpExtension[],
): readonly MgpExtension[] | undefined {
  const declaration = declarationOf(capabilities);
  return declaration && offered.filter((extension) => declaration.extensions.includes(extension));
}

/** The capabilities that a client is told, with our answer to what it declared: nothing of MGP for one that said nothing. */
export function answerMgp(told: Payload, capabilities: Payload, offered: readonly MgpExtension[]): Payload {
  const extensions = negotiate(capabilities, offered);
  if (!extensions) return told;
  const answer = jsonText({ version: MGP_VERSION, extensions });
  const { places = [] } = declarationOf(capabilities) ?? {};
  const answered = new Set<Place>([PLACES[0], ...places]);
  return [...answered].reduce((all, place) => all.splice(place, answer), told);
}

/** What a peer declares of MGP or MCP-AX is between it and us: it goes no further. Throws JsonFault on a repeated key. */
export function withoutDialects(capabilities: Payload): Payload {
  if (!MENTIONED.test(capabilities.text)) return capabilities;
  const all = capabilities.value();
  const places = keysIn(all).flatMap((key) => [
    [key] as const,
    ...(PARENT.test(key) ? keysIn(valueAt(all, [key])).map((inner) => [key, inner] as const) : []),
  ]);
  return places.filter((place) => DIALECT.test(place.at(-1) ?? "")).reduce(withoutPlace, capabilities);
}

/** Keys may be written with escapes. */
const MENTIONED = /mgp|mcpax|\\/i;
/** As a word of its own, wherever it stands: some readers trim names, or cut them at a sign. */
const DIALECT = /(^|[^a-z0-9_-])(mgp|mcpax)([^a-z0-9_-]|$)/i;
/** Some servers do not mind the case of a key. */
const PARENT = /^(experimental|extensions)$/i;

function keysIn(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function withoutPlace(capabilities: Payload, place: readonly [string, ...string[]]): Payload {
  const [parent] = place;
  const rest = capabilities.splice(place);
  return place.length > 1 && /^\{\s*\}$/.test(rest.at([parent]) ?? "") ? rest.splice([parent]) : rest;
}

/** Methods and notifications of MGP and MCP-AX are a hop's own: what we do not have of them, no server behind us has for us. */
export function isDialectWord(method: string): boolean {
  return DIALECT_WORD.test(method);
}

/** Signs before and behind it are none that a name has: some readers trim them. */
const DIALECT_WORD = /^[^a-z0-9]*(notifications[^a-z0-9]+)?(mgp|mcpax)([^a-z0-9_-]|$)/i;

function declarationOf(capabilities: Payload): Declaration | undefined {
  const known = DECLARED.get(capabilities);
  if (known) return known.declaration;
  const declaration = readDeclaration(capabilities);
  DECLARED.set(capabilities, { declaration });
  return declaration;
}

/** The first place decides. What has no version that we can speak to, or no list, is no declaration. */
function readDeclaration(capabilities: Payload): Declaration | undefined {
  if (!MENTIONED.test(capabilities.text)) return undefined;
  try {
    const all = capabilities.value();
    const places = PLACES.filter((place) => valueAt(all, place) !== undefined);
    const [first] = places;
    const { version, extensions } = Object(first && valueAt(all, first)) as Record<string, unknown>;
    if (typeof version !== "string" || !VERSIONS.test(version) || !isNames(extensions)) return undefined;
    return { extensions, places };
  } catch (error) {
    // A repeated key: two readers would see two different declarations, so it declares nothing.
    if (error instanceof JsonFault) return undefined;
    throw error;
  }
}

/** Semantic versions of our major number: what differs between them is said in extensions. */
const VERSIONS = /^0\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (part, key) =>
      typeof part === "object" && part !== null && Object.hasOwn(part, key) ? Reflect.get(part, key) : undefined,
    value,
  );
}
