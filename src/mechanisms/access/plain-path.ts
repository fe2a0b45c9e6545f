/**
 * Paths and URIs that a pattern decides about. What is decided must hold for what the server makes of the text, and servers read
 * escapes, dot segments, backslashes and doubled slashes each in their way: so what could be read in two ways is not judged.
 */
import { matchesPattern } from "../../contract/index.ts";
import { hasManyMarks, isAscii, toForm } from "./one-form.ts";
import {
  addressFault,
  barestAddress,
  hasKnownScheme,
  hasOpenAddress,
  withAddressEnd,
  withoutFragment,
} from "./uri-address.ts";

const CONTROL = /\p{Cc}|\p{Cs}/u;
const ESCAPE = /%[0-9a-f]{2}/i;
/** Escapes for what needs none, and for what stands between segments or begins another escape. */
const NEEDLESS = /%(2[def]|3[0-9]|4[1-9a-f]|5[0-9ac]|5f|6[1-9a-f]|7[0-9ae]|[01][0-9a-f]|7f|25[0-9a-f]{2})/i;
/** A segment that is `.` or `..` to somebody: blanks, further dots, parameters, a query, a fragment or a stream are cut off first. */
const DOTS = /(?:^|[/\\])\s*\.[.\s]*(?:[/\\;?#:]|$)/;
/** What one form of a text makes of it, or what looks like it: slashes both ways, whole or in a sign such as "a/c". */
const SLASH_LIKE =
  /[\u2044\u2100\u2101\u2105\u2106\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c]/;
/** A backslash in what Windows reads with the code pages of Japan and Korea, also in their wide and small forms. */
const BACKSLASH_SIGN = /[\u00a5\u20a9\uffe5\uffe6]/;
/** Full stops that are dots in names of hosts. */
const STOPS = /[\u3002\uff61]/g;
/** References of HTML to what divides, ends or escapes something, to what has no width, and to several dots at once. */
const NAMED =
  "period|sol|bsol|percnt|num|colon|semi|quest|commat|dollar|hellip|mldr|nldr|tab|newline|e[mn]sp|emsp1[34]|numsp|puncsp|" +
  "thinsp|hairsp|mediumspace|thickspace|nonbreakingspace|(?:zerowidth|negative\\w{4,9})space|zwn?j|lrm|rlm|nobreak|i[ct]|af";
/**
 * Escapes that are none in URIs, and that some servers read all the same. Of those of HTML numbers and the oldest names need no
 * semicolon, and whoever reads them twice finds others behind an "&amp".
 */
const FOREIGN_ESCAPE = new RegExp(
  `%u[0-9a-f]{4}|&(?:amp;?)*(?:#\\d|#x[0-9a-f]|(?:nbsp|shy)(?![a-z])|(?:${NAMED});)`,
  "i",
);
/** What has no width, and marks at letters: some drop it before they look at a name. */
const UNSEEN = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]/gu;
/** A name's contents by the name of what holds them on NTFS: the same file again. */
const STREAM = /:\$(?:data|i30|index_allocation|bitmap|attribute_list)\b/i;
/** Windows has a current folder on each drive. */
const DRIVE_FOLDER = /^[a-z]:(?!\/)/i;
/** What Windows drops at the end of a segment. */
const DROPPED = /(?<![.\s])[.\s]+(?=\/|$)/g;
/** To some, what stands before the dot is the name of a server, or a part of the scheme. */
const TWO_SCHEMES = /^[^/?#:]*\.(?:https?|wss?|ftp|file):\//i;
/** Not the letter of a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):(?:\/\/([^/?#]*))?/i;
/** In the first segment behind a scheme: whoever reads escapes first takes what is before it for all of the host, and others do not. */
const ESCAPED_END = /^[a-z][a-z0-9+.-]+:\/*[^/?#]*%(?:23|3f|40)/i;

/** No path of a system is longer. */
export const MAX_LENGTH = 4_096;

/** Why a text cannot be judged as a path, or as a URI where it is one; undefined: there is one way to read it. */
export function pathFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  const [start, scheme = "", host = ""] = (text.includes("/") && SCHEME.exec(text)) || [""];
  const rest = text.slice(start.length);
  if (CONTROL.test(text)) return "it holds control characters";
  if (text.includes("\\")) return "it holds a backslash";
  if (NEEDLESS.test(text)) return "it holds an escape for what needs none";
  const plain = plainText(text);
  if (plain === undefined) return "its escapes are not UTF-8";
  if (CONTROL.test(plain)) return "it holds control characters";
  if (hasManyMarks(plain)) return "it holds more than 30 marks at one letter";
  if (FOREIGN_ESCAPE.test(plain)) return "it holds an escape that only some understand";
  if (SLASH_LIKE.test(plain) || BACKSLASH_SIGN.test(plain)) return "it holds a letter that some take for a slash";
  if (STREAM.test(plain)) return "it names a stream of a file";
  if (/[A-Z]/.test(scheme + host) || hasOtherForm(plainText(host) ?? host))
    return "scheme and host are not in lower case";
  if (TWO_SCHEMES.test(text)) return "its scheme ends as another one";
  if (ESCAPED_END.test(text)) return "it holds an escaped mark that ends a host, or stands before one";
  // To servers of a scheme that not everybody knows the host may be the first segment.
  const place = hasKnownScheme(text) ? rest : text.slice(scheme === "" ? 0 : scheme.length + 1);
  // As it is written, and as it is without escapes: these hide dots, blanks and parameters, too.
  for (const one of new Set([place, plainText(place) ?? place])) {
    const form = toForm(one, "NFKC");
    if (form.length > MAX_LENGTH) return `in the one form of its letters it is longer than ${MAX_LENGTH} characters`;
    if (hasDotSegment(form)) return "it holds a dot segment";
  }
  // The first may be empty in an absolute path, and the last where a slash ends it; what is asked for may hold other URIs.
  const path = scheme === "" ? rest : (rest.split("?", 1)[0] ?? "");
  if (path.includes("//")) return "it holds an empty segment";
  return undefined;
}

/** The same for the URI of a resource, of which more is known. */
export function uriFault(uri: string): string | undefined {
  if (uri.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (/%(?![0-9a-f]{2})/i.test(uri)) return "it holds a percent sign that begins no escape";
  if (uri.includes("#")) return "it holds a fragment";
  const [scheme = ""] = uri.split(":", 1);
  if (/[A-Z]/.test(scheme)) return "scheme and host are not in lower case";
  return placeFault(uri);
}

/** The same for a path, or a URI, that is whole. */
export function placeFault(text: string): string | undefined {
  if (text.trim() !== text) return "it begins or ends with a blank";
  return pathFault(text) ?? addressFault(text);
}

/** Some letters become others, of names of hosts, when they are brought into lower case or one form: the sign of kelvins is a k then. */
function hasOtherForm(host: string): boolean {
  return !isAscii(host) && toForm(host, "NFKC").toLowerCase() !== host;
}

/** Letters that look like dots and slashes are taken for them where names are brought into one form: this is about that form. */
function hasDotSegment(form: string): boolean {
  return DOTS.test(isAscii(form) ? form : form.replace(STOPS, ".").replace(UNSEEN, ""));
}

/** The text without escapes; undefined where they are not UTF-8. */
export function plainText(text: string): string | undefined {
  if (!ESCAPE.test(text)) return text;
  try {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => decodeURIComponent(escapes));
  } catch {
    return undefined;
  }
}

/** A path or URI, or a pattern over them, without all that makes no difference to some server. */
export function barest(text: string): string {
  // Before its escapes are read and after that: servers do it in either order.
  const address = barestAddress(text);
  return toForm(barestAddress(plainText(address) ?? address), "NFC").replace(DROPPED, "");
}

/** A pattern with a slash is about a place. */
export function isPlacePattern(pattern: string): boolean {
  return /[/\\]/.test(pattern);
}

/** Throws PathFault where the pattern is about places, and the text is in none that everybody would find. */
export function globs(text: string, pattern: string): boolean {
  if (!isPlacePattern(pattern)) return matchesPattern(pattern, text);
  const fault = DRIVE_FOLDER.test(text) ? "it depends on the current folder of a drive" : placeFault(text);
  if (fault !== undefined) throw new PathFault(fault);
  const isMatched = matchesPattern(pattern, text);
  const isEnded = hasKnownScheme(text) && hasOpenAddress(pattern);
  const formOf = (one: string) => (isEnded ? withAddressEnd(barest(one)) : barest(one));
  if (matchesPattern(formOf(pattern), formOf(withoutFragment(text))) !== isMatched)
    throw new PathFault("without escapes, fragment and what else some servers drop, or by its host, it is elsewhere");
  return isMatched;
}

/** A rule looks at where something is, and the text can be read in two ways. */
export class PathFault extends Error {
  override readonly name = "PathFault";

  constructor(fault: string) {
    super(`a path or URI can be read in two ways: ${fault}`);
  }
}
