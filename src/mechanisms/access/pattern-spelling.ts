/**
 * Paths and URIs are judged in one spelling, and refused in others. A pattern in one of the others fits none of them as it is
 * written: whoever wrote it believes in a rule that is not there.
 */
import { rowsOf } from "./by-uri.ts";
import { placeFault, plainText, uriFault } from "./plain-path.ts";
import type { AccessPolicy } from "./policy.ts";
import { barestAddress } from "./uri-address.ts";

export type MisspelledPattern = {
  readonly written: string;
  readonly reason: string;
  /** How to write it, where that can be told. */
  readonly meant?: string;
};

/** Each once. */
export function misspelledPatterns(policy: AccessPolicy): readonly MisspelledPattern[] {
  const { bindings, exposures } = rowsOf(policy);
  const { scopes, rules } = policy;
  const names = [
    ...[...bindings, ...exposures].map(({ primitive }) => primitive),
    ...[...scopes, ...rules].map(({ match }) => match),
  ];
  const places = rules.flatMap(({ condition }) => condition?.places ?? []);
  const found = [
    ...names.map((name) => misspelled(name, uriOf(name), uriFault)),
    ...places.map((place) => misspelled(place, place, placeFault)),
  ];
  return [...new Map(found.flatMap((one) => (one ? [[one.written, one]] : []))).values()];
}

/** The same of one name, which may be a URI or a dotted one; undefined: it is judged as it is written, or is none. */
export function misspelledName(name: string): MisspelledPattern | undefined {
  return misspelled(name, uriOf(name), uriFault);
}

type FaultOf = (text: string) => string | undefined;

function misspelled(written: string, place: string | undefined, faultOf: FaultOf): MisspelledPattern | undefined {
  const reason = place === undefined ? undefined : faultOfAll(place, faultOf);
  if (place === undefined || reason === undefined) return undefined;
  const plain = respelled(place);
  if (plain === place || faultOfAll(plain, faultOf) !== undefined) return { written, reason };
  return { written, reason, meant: written.slice(0, written.length - place.length) + plain };
}

/** What a `*` may stand for, each of which is right somewhere: a part of a name, a port, what begins a path or an address. */
const STAND_INS = ["x", "1", "", "/x", "//x/", "///x"];

/** Why no text that the pattern fits can be judged; undefined: some can. */
function faultOfAll(pattern: string, faultOf: FaultOf): string | undefined {
  const [start = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return faultOf(pattern);
  let fault: string | undefined;
  for (const first of STAND_INS) {
    for (const other of STAND_INS) {
      const found = faultOf(start + first + rest.join(other));
      if (found === undefined) return undefined;
      fault ??= found;
    }
  }
  return fault;
}

const URI = /^[a-z][a-z0-9+.-]*:.*\//is;

/** What a pattern over dotted names says about URIs; undefined: it is about something else. Segments have no dots. */
function uriOf(pattern: string): string | undefined {
  const dot = pattern.indexOf(".");
  const isDotted = dot >= 0 && dot < pattern.indexOf(":");
  const uri = isDotted ? pattern.slice(dot + 1) : pattern;
  return URI.test(uri) ? uri : undefined;
}

const ADDRESS = /^[^:/]*:(?:\/\/[^/?#]*)?/;

function respelled(place: string): string {
  return barestAddress(plainText(place) ?? place)
    .replace(ADDRESS, (address) => address.toLowerCase())
    .replace(/(?<=[^:/])\/{2,}/g, "/");
}
