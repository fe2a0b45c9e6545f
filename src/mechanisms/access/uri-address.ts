/**
 * Scheme, host and port of a URI that a pattern decides about. Of some schemes everybody knows how to read them, and takes many
 * spellings for the same: there only the one counts that they are all brought into. Of others it is not known what their servers drop.
 */

const KNOWN_SCHEME = /^(https?|wss?|ftp|file):/i;
const ADDRESS = /^[a-z]+:\/\/([^/?#]*)/;
/** The letters of names, or the sixth version's address; and a port. */
const HOST_AND_PORT = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/;
/** A bar is the colon of a drive to some. */
const FILE = /^file:\/\/\/(?![a-z]\|)[^?#]*$/i;

/** Whether everybody knows where the host in this URI ends. */
export function hasKnownScheme(uri: string): boolean {
  return KNOWN_SCHEME.test(uri);
}

/** Why an address is not in its one form; undefined: it is, or its scheme has none. */
export function addressFault(text: string): string | undefined {
  const [, scheme = ""] = KNOWN_SCHEME.exec(text) ?? [];
  if (scheme === "") return undefined;
  if (scheme.toLowerCase() === "file")
    return FILE.test(text) ? undefined : "a file's URI begins with file:/// and has neither host nor query";
  const [start, address = ""] = ADDRESS.exec(text) ?? [];
  if (start === undefined || address === "") return "it does not begin with scheme, two slashes and a host";
  if (address.includes("@")) return "it names a user before the host";
  const plain = `${start}/`;
  if (!HOST_AND_PORT.test(address) || !URL.canParse(plain) || new URL(plain).href !== plain)
    return "its host and port are not as in a parsed URL: in ASCII, without default or empty port, dot at the end or short numbers";
  return undefined;
}

/** What may stand before a host, and what a port or name without end leaves behind it. */
const USER = /:\/\/[^/?#]*@/;
const AFTER_HOST = /(:\/\/[^/?#]*)(?<![.:])[.:]+(?=[/?#]|$)/;
const WITHOUT_PATH = /\b(?:https?|wss?|ftp):\/\/[^/?#*]+(?=[?#]|$)/;
/**
 * Of a scheme that not everybody knows: its servers may take the host for the first segment of a path, whatever slashes stand before
 * it, or look at its name alone. In a pattern the name of a server may stand before it.
 */
const OWN_SCHEME = "^([^/?#:]*(?<!(?:^|[^a-z0-9+-])(?:https?|wss?|ftp|file))):";
const OWN_SLASHES = new RegExp(`${OWN_SCHEME}/*`, "i");
/** Some take all that stands behind a colon for a port, and look at the host alone. */
const OWN_PORT = new RegExp(`${OWN_SCHEME}(//(?:\\[[^\\]]*\\]|[^/?#:[])*):[^/?#]*(?=[/?#]|$)`, "i");
const OWN_END = new RegExp(`${OWN_SCHEME}//[^/?#*]+(?=[?#]|$)`, "i");

/** A URI, or a pattern over some, with nothing in its address that a server may drop, and with the slash that it adds. */
export function barestAddress(text: string): string {
  return text
    .replace(USER, "://")
    .replace(AFTER_HOST, "$1")
    .replace(WITHOUT_PATH, "$&/")
    .replace(OWN_PORT, "$1:$2")
    .replace(OWN_SLASHES, "$1://")
    .replace(OWN_END, "$&/");
}

const FRAGMENT = /^([a-z][a-z0-9+.-]+:[^#]*)#.*$/s;

/** It is not sent to any server. */
export function withoutFragment(text: string): string {
  return text.replace(FRAGMENT, "$1");
}

/** Scheme, host and port of a pattern, where a slash says that they are over. */
const WHOLE_ADDRESS = /^[^/?#]*:\/\/[^/?#]*(?=\/)/;

/** Whether a pattern leaves a part of its address open: a `*` there stands for no part of a path where the scheme is a known one. */
export function hasOpenAddress(pattern: string): boolean {
  return WHOLE_ADDRESS.exec(pattern)?.[0].includes("*") ?? false;
}

/** With a sign at the end of its address that is in no text which is judged, so that a `*` before it ends there. */
export function withAddressEnd(text: string): string {
  return text.replace(WHOLE_ADDRESS, "$&\\");
}
