import type { Primitive } from "../../contract/index.ts";

/** `none`: nothing may stand there; `segment`: something without a slash; `any`: anything, also nothing. */
type Gap = "none" | "segment" | "any";

/** A literal, and what may stand before it. */
type Piece = { readonly gap: Gap; readonly literal: string };

/** What is longer comes from no template, and is looked for nowhere: every template may have to be held against all of it. */
export const MAX_URI_LENGTH = 4 * 1024;

/**
 * A URI template, read once. No regular expression: templates are a server's text, and matching here only chooses who is asked, so
 * it may be generous; it must be linear.
 */
export class UriTemplate {
  readonly text: string;
  /** As `schemeOf` has it. */
  readonly scheme: string;
  /** Whether it says of which scheme its URIs are. */
  readonly hasLiteralScheme: boolean;
  readonly #pieces: readonly Piece[];
  /** What may stand behind the last literal. Undefined: a brace is open, and nothing fits. */
  readonly #lastGap: Gap | undefined;
  /** What every URI of it ends with, and begins with. */
  readonly #tail: string;
  readonly #head: string;
  /** As far as it is written out; undefined where there is none. */
  readonly #host: string | undefined;
  readonly #saysPath: boolean;

  constructor(text: string) {
    this.text = text;
    this.scheme = schemeOf(text);
    this.hasLiteralScheme = hasLiteralScheme(text);
    const { pieces, lastGap } = readPieces(text);
    this.#pieces = pieces;
    this.#lastGap = lastGap;
    this.#head = pieces[0]?.gap === "none" ? pieces[0].literal : "";
    this.#tail = lastGap === "none" ? (pieces.at(-1)?.literal ?? "") : "";
    const rest = text.slice(text.indexOf(":") + 1);
    this.#host = rest.startsWith("//")
      ? rest
          .slice(2)
          .split(/[{/?#]/, 1)[0]
          ?.toLowerCase()
      : undefined;
    this.#saysPath = saysPath(rest);
  }

  /** How many steps it takes at most to hold a URI against it. */
  get steps(): number {
    return this.#pieces.length + 1;
  }

  /** Whether a URI could come from it. */
  matches(uri: string): boolean {
    if (this.#lastGap === undefined || uri.length > MAX_URI_LENGTH) return false;
    // Most templates say no here.
    if (!uri.startsWith(this.#head) || !uri.endsWith(this.#tail)) return false;
    let at = 0;
    for (const [place, { gap, literal }] of this.#pieces.entries()) {
      const isTail = this.#lastGap === "none" && place === this.#pieces.length - 1;
      const found = gap === "none" ? at : isTail ? uri.length - literal.length : uri.indexOf(literal, at);
      if (found < at || !fits(gap, uri.slice(at, found))) return false;
      at = found + literal.length;
    }
    return fits(this.#lastGap, uri.slice(at));
  }

  /**
   * Of one with a literal scheme, which this URI fits: whether it says more of it than that: its host, or, where any host of one segment
   * will do, something of its path. `db://prod/{+x}` and `notes://{user}/private` do; `db://{+x}` and `db://{host}/{table}` do not.
   */
  isExact(uri: string): boolean {
    if (this.#host === undefined) return !uri.startsWith("//", uri.indexOf(":") + 1);
    return this.#host === hostOf(uri) || this.#saysPath;
  }
}

/** The template that is listed so: the same one whoever asks. */
export function templateOf(primitive: Primitive): UriTemplate {
  const known = KNOWN_TEMPLATES.get(primitive);
  if (known) return known;
  const template = new UriTemplate(primitive.name);
  KNOWN_TEMPLATES.set(primitive, template);
  return template;
}

const KNOWN_TEMPLATES = new WeakMap<Primitive, UriTemplate>();

function readPieces(template: string): { pieces: Piece[]; lastGap: Gap | undefined } {
  const pieces: Piece[] = [];
  let gap = "none" as Gap;
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{", at);
    const literal = template.slice(at, open < 0 ? template.length : open);
    if (literal !== "") {
      pieces.push({ gap, literal });
      gap = "none";
    }
    if (open < 0) break;
    const close = template.indexOf("}", open);
    if (close < 0) return { pieces, lastGap: undefined };
    gap = gap === "any" ? "any" : gapOf(template.slice(open + 1, close));
    at = close + 1;
  }
  return { pieces, lastGap: gap };
}

/** Of what stands behind the scheme: whether any host of one segment will do, and something of the path is written out. */
function saysPath(rest: string): boolean {
  const open = rest.indexOf("{");
  const close = rest.indexOf("}", open);
  if (gapOf(rest.slice(open + 1, close)) === "any") return false;
  // What stands between the expressions after the host's.
  const literals = rest
    .slice(close + 1)
    .split("}")
    .map((piece) => piece.split("{", 1)[0]);
  const [, ...path] = literals.join("").split("/");
  return path.some((segment) => segment !== "");
}

/** What an expression without its braces may stand for. */
function gapOf(expression: string): Gap {
  return /^[+#/?&;.]|\*$/.test(expression) ? "any" : "segment";
}

function fits(gap: Gap, text: string): boolean {
  if (gap === "none") return text === "";
  return gap === "any" || (text !== "" && !text.includes("/"));
}

/** Whether a URI, or a template, says of which scheme it is. */
export function hasLiteralScheme(template: string): boolean {
  return /^[^{:]+:/.test(template);
}

/** `file` of `file:///x`; "" where there is none. */
export function schemeOf(uri: string): string {
  const colon = uri.indexOf(":");
  return colon < 0 ? "" : uri.slice(0, colon).toLowerCase();
}

/** `prod` of `db://prod/x`; "" where there is none. */
export function hostOf(uri: string): string {
  const [, host = ""] = /^[^:/?#]*:\/\/([^/?#]*)/.exec(uri) ?? [];
  return host.toLowerCase();
}
