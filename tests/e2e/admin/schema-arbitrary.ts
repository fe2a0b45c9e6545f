/** Values that a JSON Schema allows, and values that somebody might send instead. */
import fc from "fast-check";

export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
};

/** What breaks those who put texts together: SQL, Redis, shells, paths, patterns, prototypes, Unicode. */
export const NASTY_TEXTS: readonly string[] = [
  "'; drop table policy; --",
  '" or 1=1 --',
  "$1); delete from blocks where (1=1",
  "x\r\n*1\r\n$8\r\nFLUSHALL\r\n",
  "{isthmus}:*",
  "*",
  "**",
  "*a".repeat(80),
  "(a+)+$",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "\u0000",
  "a\u0000b",
  "\u202e\u2066reversed",
  "𝒳💥é\u0301",
  "\ud800",
  "../../etc/passwd",
  "%00%2e%2e%2f",
  "__proto__",
  "constructor",
  "toString",
  "\u0024{NAME}",
  "$(reboot)`reboot`",
  "<script>alert(1)</script>",
  "",
  " ",
  "-1",
  "1e400",
  "NaN",
  "x".repeat(300),
  "y".repeat(20_000),
];

const MAX_TEXT = 40;
const MAX_ITEMS = 4;

/** What the schema allows, as far as this knows its words: most of it is also allowed by the code behind it. */
export function validOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map(validOf));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(validOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? MAX_ITEMS, Math.max(MAX_ITEMS, schema.minItems ?? 0)),
      });
    case "string":
      return textOf(schema);
    case "integer":
      return fc.integer(boundsOf(schema));
    case "number":
      return fc.double({ ...boundsOf(schema), noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function boundsOf({ minimum, maximum, exclusiveMinimum }: JsonSchema): { min: number; max: number } {
  const min = Math.max(minimum ?? exclusiveMinimum ?? -1_000, -1e9);
  return { min, max: Math.max(min, Math.min(maximum ?? 1e6, 1e9)) };
}

function objectOf({
  properties = {},
  required = [],
  additionalProperties,
  propertyNames,
}: JsonSchema): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, validOf(schema)])),
    { requiredKeys: required.filter((name) => name in properties) },
  );
  if (typeof additionalProperties !== "object") return known;
  const further = fc.dictionary(textOf(propertyNames ?? { type: "string" }), validOf(additionalProperties), {
    maxKeys: 3,
  });
  return fc.tuple(known, further).map(([one, other]) => ({ ...other, ...one }));
}

function textOf({ minLength = 0, maxLength = MAX_TEXT, pattern, format }: JsonSchema): fc.Arbitrary<string> {
  if (format === "date-time") {
    const range = { min: new Date("2020-01-01"), max: new Date("2040-01-01"), noInvalidDate: true };
    return fc.date(range).map((date) => date.toISOString());
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"));
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, MAX_TEXT)) };
  const nasty = NASTY_TEXTS.filter((text) => text.length >= minLength && text.length <= maxLength);
  return fc.oneof(
    fc.string({ ...bounds, unit: "binary" }),
    fc.string(bounds),
    ...(nasty.length > 0 ? [fc.constantFrom(...nasty)] : []),
    fc
      .constantFrom("10/s", "1h", "a.b", "files", "http://127.0.0.1:9/mcp")
      .filter((text) => text.length >= minLength && text.length <= maxLength),
  );
}

const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...NASTY_TEXTS),
  fc.constantFrom(null, true, 0, -0, -1, 1.5, 2 ** 53, 1e308, -1e308, 1e-308, [], {}, [[]], [null]),
  fc.jsonValue(),
);

/** Something that was right until one place in it was changed, or that never was. */
export function brokenOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const changed = fc
    .tuple(validOf(schema), nastyValue, fc.nat(), fc.constantFrom("replace", "remove", "add"))
    .map(([value, nasty, where, how]) => changeAt(structuredClone(value), where, how, nasty));
  return fc.oneof({ weight: 3, arbitrary: changed }, { weight: 1, arbitrary: nastyValue });
}

type Place = { readonly holder: Record<string, unknown>; readonly key: string };

function changeAt(value: unknown, where: number, how: string, nasty: unknown): unknown {
  const places = placesIn(value);
  const place = places[where % Math.max(1, places.length)];
  if (!place) return nasty;
  if (how === "remove") delete place.holder[place.key];
  else if (how === "replace") place.holder[place.key] = nasty;
  else place.holder[typeof nasty === "string" ? nasty : "surplus"] = nasty;
  return value;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}
