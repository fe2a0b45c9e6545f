/** Templates of URIs (RFC 6570), as far as it takes to know which URIs a value leads to. */

/** Text, or undefined for a place that may hold any. */
export type Piece = string | undefined;

type Variable = { readonly name: string; readonly length: number };
type Part = { readonly literal: string; readonly operator: string; readonly variables: readonly Variable[] };

/** What stands before the first value of an expression, and between two. */
const JOINTS: Readonly<Record<string, readonly [string, string]>> = {
  "/": ["/", "/"],
  ".": [".", "."],
  "#": ["#", ","],
  ";": [";", ";"],
  "?": ["?", "&"],
  "&": ["&", "&"],
};
const WITH_NAMES: ReadonlySet<string> = new Set([";", "?", "&"]);
const RESERVED: ReadonlySet<string> = new Set(["+", "#"]);

function partsOf(template: string): readonly Part[] {
  return template.split(/(\{[^{}]*\})/).map((text) => {
    const [, operator = "", list] = /^\{([+#./;?&]?)(.*)\}$/s.exec(text) ?? [];
    if (list === undefined) return { literal: text, operator: "", variables: [] };
    const variables = list.split(",").map((one) => {
      const [name = "", length] = one.replace(/\*$/, "").split(":");
      return { name, length: length === undefined ? Number.POSITIVE_INFINITY : Number(length) };
    });
    return { literal: "", operator, variables };
  });
}

export function variablesOf(template: string): ReadonlySet<string> {
  return new Set(partsOf(template).flatMap(({ variables }) => variables.map(({ name }) => name)));
}

/** `escaped`: as the RFC writes it. `given`: as many clients do, who put a value into its place as it is. */
export type Spelling = "escaped" | "given";

export function expand(template: string, known: ReadonlyMap<string, string>, spelling: Spelling): readonly Piece[] {
  return partsOf(template).flatMap(({ literal, operator, variables }): Piece[] => {
    const [first, between] = JOINTS[operator] ?? ["", ","];
    const pieces = variables.flatMap(({ name, length }, place): Piece[] => {
      const joint = (place === 0 ? first : between) + (WITH_NAMES.has(operator) ? `${name}=` : "");
      const value = known.get(name);
      if (value === undefined) return [joint, undefined];
      return [joint, spelling === "given" ? value : escaped([...value].slice(0, length).join(""), operator)];
    });
    return [literal, ...pieces];
  });
}

/** Throws URIError for half a letter. */
function escaped(value: string, operator: string): string {
  // Where reserved signs stay, so do escapes that are there already.
  if (RESERVED.has(operator)) return encodeURI(value).replace(/%25(?=[0-9a-f]{2})/gi, "%");
  return encodeURIComponent(value).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Stands in all places that may hold any text: a name that nothing was said about. */
const ANY_NAME = "0-any-name-0";
/** Behind a host it would be no port. */
const ANY_PORT = "61009";

function anyAfter(text: string): string {
  return text.endsWith(":") && /:\/\/[^/?#]*:$/.test(text) ? ANY_PORT : ANY_NAME;
}

/** One of the texts that these pieces can be; where nothing is open, the only one. */
export function textOf(pieces: readonly Piece[]): string {
  return pieces.reduce<string>((text, piece) => text + (piece ?? anyAfter(text)), "");
}

/** How many more places are looked at. */
export type Places = { left: number };

/**
 * A text that the pieces can be and the pattern matches, with any name wherever both leave it open; undefined: there is none, or
 * none was found in so many places.
 */
export function meetingText(pieces: readonly Piece[], pattern: string, places: Places): string | undefined {
  const own: readonly Piece[] = pieces.flatMap((piece): Piece[] => (piece === undefined ? [undefined] : [...piece]));
  const other: readonly Piece[] = [...pattern].map((sign) => (sign === "*" ? undefined : sign));
  const tried = new Set<number>();
  const open: { readonly at: number; readonly to: number; readonly text: string }[] = [{ at: 0, to: 0, text: "" }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { at, to, text } = next;
    if (at === own.length && to === other.length) return text;
    const place = at * (other.length + 1) + to;
    if (tried.has(place)) continue;
    if (places.left-- <= 0) return undefined;
    tried.add(place);
    const [mine, theirs] = [own[at], other[to]];
    const [isOpen, areOpen] = [at < own.length && mine === undefined, to < other.length && theirs === undefined];
    if (isOpen && areOpen) {
      const filled = text + anyAfter(text);
      open.push({ at, to: to + 1, text: filled }, { at: at + 1, to, text: filled });
    } else if (isOpen) {
      open.push({ at: at + 1, to, text });
      if (theirs !== undefined) open.push({ at, to: to + 1, text: text + theirs });
    } else if (areOpen) {
      open.push({ at, to: to + 1, text });
      if (mine !== undefined) open.push({ at: at + 1, to, text: text + mine });
    } else if (mine !== undefined && mine === theirs) open.push({ at: at + 1, to: to + 1, text: text + mine });
  }
  return undefined;
}
