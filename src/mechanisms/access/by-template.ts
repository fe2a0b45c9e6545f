/**
 * Which templates a URI is of, whatever somebody else would call it: as it is written and in its barest form, and with a query or a slash at
 * its end or without. A server may read it by any of them, so where in doubt it is of one.
 */
import { matchesPattern, type Target } from "../../contract/index.ts";
import { barest, MAX_LENGTH } from "./plain-path.ts";

/** A URI in each form that some server takes it for, by segments. Undefined: it is too long to be looked at, and may be of any template. */
type UriForms = readonly (readonly string[])[] | undefined;

function formsOf(uri: string): UriForms {
  if (uri.length > MAX_LENGTH) return undefined;
  const forms = [uri, barest(uri)].flatMap((form) => [form, withoutEnd(form.split("?", 1)[0] ?? "")]);
  return [...new Set(forms)].map((form) => form.split("/"));
}

function withoutEnd(text: string): string {
  return text.endsWith("/") ? text.slice(0, -1) : text;
}

/** Tells of templates whether this URI may be of them. */
export function fitsOneOf(uri: string): (template: Target) => boolean {
  const forms = formsOf(uri);
  return (template) => fitsTemplate(template, forms);
}

function fitsTemplate(template: Target, forms: UriForms): boolean {
  return forms === undefined || shapesOf(template).some((shape) => forms.some((segments) => fits(shape, segments)));
}

/** A template as patterns: of its first segments, and of what comes then where an expression may hold slashes. */
type Shape = { readonly segments: readonly string[]; readonly rest: string | undefined };

function fits({ segments, rest }: Shape, given: readonly string[]): boolean {
  if (rest === undefined ? given.length !== segments.length : given.length <= segments.length) return false;
  if (!segments.every((segment, place) => matchesPattern(segment, given[place] ?? ""))) return false;
  return rest === undefined || matchesPattern(rest, given.slice(segments.length).join("/"));
}

function shapesOf(template: Target): readonly Shape[] {
  const known = SHAPES.get(template);
  if (known) return known;
  const pattern = patternOf(template.name);
  const forms = [pattern, barest(pattern)].flatMap((form) => [form, withoutEnd(form)]);
  const shapes = [...new Set(forms)].map(shapeOf);
  SHAPES.set(template, shapes);
  return shapes;
}

const SHAPES = new WeakMap<Target, readonly Shape[]>();

/** In a pattern of a template: any text, with slashes and without. */
const ANY_TEXT = "**";
const ANY_SEGMENT = "*";

/** What is asked for has no end that is known: a URI is looked at without it, too. */
function patternOf(template: string): string {
  const [path = ""] = template.split("{?", 1);
  return path.replace(/(?:\{[^{}]*\})+/g, (expressions) => (HOLDS_SLASHES.test(expressions) ? ANY_TEXT : ANY_SEGMENT));
}

/** Of expressions one that stands for several segments, or is put into its place as it is. */
const HOLDS_SLASHES = /\{[+#/&]|\*\}/;

function shapeOf(pattern: string): Shape {
  const segments = pattern.split("/");
  const open = segments.findIndex((segment) => segment.includes(ANY_TEXT));
  if (open < 0) return { segments, rest: undefined };
  return { segments: segments.slice(0, open), rest: segments.slice(open).join("/") };
}
