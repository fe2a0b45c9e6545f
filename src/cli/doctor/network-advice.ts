/** Why a program cannot fetch itself, or reach what it needs, as far as it says so: mostly a company's network. */
import type { Environment } from "../../server/config/index.ts";

/** What of a server's environment decides how it gets out. */
export type WayOut = {
  /** Without its password. */
  readonly proxy: string | undefined;
  /** The file with the company's authority that Node is told to trust. */
  readonly authority: string | undefined;
};

/** `own`: what the config gives the server; it comes first. */
export function wayOutOf(own: Environment, inherited: Environment): WayOut {
  const find = (...names: string[]) => names.map((name) => own[name] ?? inherited[name]).find(Boolean);
  const proxy = find("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY");
  return { proxy: proxy && withoutPassword(proxy), authority: find("NODE_EXTRA_CA_CERTS") };
}

function withoutPassword(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host || proxy.replace(/^.*@/, "") : proxy.replace(/^.*@/, "");
}

/** What package managers say before and after they have failed to fetch something. */
const FETCHING = /^npm |[Ff]ailed to fetch|error sending request|^\s*[×├╰]|Caused by:|^\s*cause: |^hint: |^ERROR: /;

type Cause = {
  readonly words: RegExp;
  /** It counts only in what a package manager says: a server has reasons of its own to say the same. */
  readonly isOfFetching?: boolean;
  readonly advice: (way: WayOut) => string;
};

const CAUSES: readonly Cause[] = [
  {
    words:
      /self[- _]signed[- _]cert|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|unable to (?:verify the first|get (?:local )?issuer) cert|CERTIFICATE_VERIFY_FAILED|invalid peer certificate|UnknownIssuer/i,
    advice: ({ authority }) =>
      authority === undefined
        ? "it does not trust the certificate of whom it reaches, mostly a company's proxy: set NODE_EXTRA_CA_CERTS (npx; SSL_CERT_FILE for uvx) to the PEM file of the company's authority where the gateway is started"
        : `it does not trust the certificate of whom it reaches: the authority is not in NODE_EXTRA_CA_CERTS (${authority}), or "npm config get cafile" names another file, which wins; uvx reads SSL_CERT_FILE`,
  },
  {
    words: /\b407\b|proxy auth(?:entication|orization) required/i,
    advice: ({ proxy }) =>
      `the proxy${proxy === undefined ? "" : ` ${proxy}`} wants a password: set HTTPS_PROXY to http://user:password@host:port where the gateway is started`,
  },
  {
    words: /ENOTFOUND|EAI_AGAIN|dns error|name resolution|name or service not known|failed to lookup address/i,
    isOfFetching: true,
    advice: ({ proxy }) =>
      proxy === undefined
        ? "the name of the registry cannot be resolved: behind a proxy set HTTPS_PROXY where the gateway is started, else look at npm_config_registry or UV_DEFAULT_INDEX"
        : `the name of the registry or of the proxy ${proxy} cannot be resolved: correct HTTPS_PROXY, or npm_config_registry or UV_DEFAULT_INDEX`,
  },
  {
    words: /ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|connection refused|timed? ?out/i,
    isOfFetching: true,
    advice: ({ proxy }) =>
      proxy === undefined
        ? "the registry does not answer: behind a proxy set HTTPS_PROXY where the gateway is started"
        : `the proxy ${proxy} does not answer: correct HTTPS_PROXY where the gateway is started, or name the registry in NO_PROXY`,
  },
  {
    words: /\bE(?:401|403|NEEDAUTH)\b|401 Unauthorized|403 Forbidden/,
    isOfFetching: true,
    advice: () =>
      "the registry wants credentials: put its token into ~/.npmrc (npx) or ~/.netrc (uvx); tokens in variables are not handed on",
  },
  {
    words: /\bE404\b|was not found in the package registry|no matching distribution/i,
    isOfFetching: true,
    advice: () =>
      "there is no such package in the registry: correct args, or set npm_config_registry or UV_DEFAULT_INDEX",
  },
];

/** By the last line that names a cause; undefined: none does. */
export function adviceForNetwork(lines: readonly string[], way: WayOut): string | undefined {
  for (const line of lines.toReversed()) {
    const cause = CAUSES.find(({ words, isOfFetching }) => words.test(line) && (!isOfFetching || FETCHING.test(line)));
    if (cause) return cause.advice(way);
  }
  return undefined;
}
