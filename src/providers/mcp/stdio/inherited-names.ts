/** Which variables of our environment a child may know. Everything else, our credentials first, stays with us. */

/** Where and as whom it runs. */
const PLACE = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/** Where programs and package managers look for what the user has set, and keep what they fetched. */
const FOLDERS = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/** Whom to trust on the way out: files of a company's own authority, each runtime with its own word for it. */
const AUTHORITIES = [
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_SYSTEM_CA",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "AWS_CA_BUNDLE",
  "DENO_CERT",
];

/** Which way out; also as `https_proxy`. Their URLs may hold credentials, without which the way is closed. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/** What no program of Windows starts or finds its files without. Windows does not tell upper and lower case apart. */
const WINDOWS = [
  "ALLUSERSPROFILE",
  "APPDATA",
  "COMMONPROGRAMFILES",
  "COMMONPROGRAMFILES(X86)",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

const EXACT: ReadonlySet<string> = new Set([
  ...PLACE,
  ...FOLDERS,
  ...AUTHORITIES,
  "NODE_USE_ENV_PROXY",
  ...PROXIES,
  ...PROXIES.map((name) => name.toLowerCase()),
]);

/** `Path` is what Windows calls it. */
const IN_ANY_CASE: ReadonlySet<string> = new Set([...WINDOWS, "PATH"]);

/**
 * Package managers: where they fetch from, through what, whom they trust and where they keep it. Not what `npm run` says about
 * the package that it runs, and no tokens or passwords: those belong into the user's own `.npmrc`, or the server's `env`.
 */
const PACKAGE_MANAGERS: readonly RegExp[] = [
  /^npm_config_(?:registry|@[^:]+:registry|proxy|https[-_]proxy|noproxy|ca|cafile|strict[-_]ssl)$/i,
  /^npm_config_(?:userconfig|globalconfig|cache|prefix|offline|prefer[-_]offline)$/i,
  /^PIP_(?:INDEX_URL|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY|CONFIG_FILE|CACHE_DIR)$/,
  /^UV_(?:INDEX|DEFAULT_INDEX|INDEX_URL|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|INDEX_STRATEGY|INSECURE_HOST|OFFLINE)$/,
  /^UV_(?:NATIVE_TLS|SYSTEM_CERTS|CONFIG_FILE|CACHE_DIR|TOOL_DIR|PYTHON_INSTALL_DIR|PYTHON_INSTALL_MIRROR)$/,
];

export function isInherited(name: string): boolean {
  return (
    EXACT.has(name) || IN_ANY_CASE.has(name.toUpperCase()) || PACKAGE_MANAGERS.some((pattern) => pattern.test(name))
  );
}
