import { describe, expect, test } from "vitest";
import { adviceForNetwork, wayOutOf } from "./network-advice.ts";

const NOWHERE = { proxy: undefined, authority: undefined };
const npm = (code: string) => `npm http fetch GET https://registry.example.com/x attempt 1 failed with ${code}`;

/** As uv 0.13.7 wrote them, to the last of its lines; a gateway keeps three. */
const UV = {
  name: [
    "  cause: dns error",
    "  cause: error resolving DNS",
    "  cause: failed to lookup address information: Name or service not known",
  ],
  authority: [
    "  cause: client error (Connect)",
    "  cause: invalid peer certificate: UnknownIssuer",
    "hint: Consider enabling use of system TLS certificates with the `--system-certs` command-line flag",
  ],
  password: [
    "  cause: error sending request for url (https://pypi.example.com/simple/mcp-x/)",
    "  cause: client error (Connect)",
    "  cause: tunnel error: proxy authorization required",
  ],
  passwordOfHttp: [
    "error: Failed to fetch: http://pypi.example.com/simple/mcp-x/",
    "  cause: HTTP status client error (407 Proxy Authentication Required) for url (http://pypi.example.com/simple/mcp-x/)",
  ],
  deadProxy: [
    "  cause: tunnel error: failed to create underlying connection",
    "  cause: tcp connect error",
    "  cause: Connection refused (os error 111)",
  ],
  credentials: [
    "error: No solution found when resolving tool dependencies",
    "  cause: Because mcp-x was not found in the package registry and you require mcp-x, we can conclude that your requirements are unsatisfiable.",
    "hint: An index URL (https://pypi.example.com/simple) could not be queried due to a lack of valid authentication credentials (401 Unauthorized)",
  ],
  forbidden: [
    "  cause: Because mcp-x was not found in the package registry and you require mcp-x, we can conclude that your requirements are unsatisfiable.",
    "hint: An index (https://pypi.example.com/simple) returned a 403 Forbidden error. Check that the index URL is correct and the credentials are valid.",
  ],
  noPackage: [
    "error: No solution found when resolving tool dependencies",
    "  cause: Because mcp-x was not found in the package registry and you require mcp-x, we can conclude that your requirements are unsatisfiable.",
  ],
};

describe("adviceForNetwork of uv", () => {
  const behind = { ...NOWHERE, proxy: "proxy:3128" };

  test.each([
    ["a name that does not resolve", UV.name, NOWHERE, /^the name of the registry cannot be resolved.*HTTPS_PROXY/],
    ["a proxy's name", UV.name, behind, /^the name of the registry or of the proxy proxy:3128 cannot be resolved/],
    ["a company's authority", UV.authority, NOWHERE, /does not trust the certificate.*SSL_CERT_FILE/],
    ["a proxy's password", UV.password, behind, /^the proxy proxy:3128 wants a password/],
    ["a proxy's password, without TLS", UV.passwordOfHttp, behind, /^the proxy proxy:3128 wants a password/],
    ["a proxy that is not there", UV.deadProxy, behind, /^the proxy proxy:3128 does not answer/],
    ["a registry that is not there", UV.deadProxy.slice(1), NOWHERE, /^the registry does not answer/],
    ["a registry that knows its users", UV.credentials, NOWHERE, /^the registry wants credentials.*~\/\.netrc/],
    ["a registry that forbids", UV.forbidden, NOWHERE, /^the registry wants credentials/],
    ["a package that is not there", UV.noPackage, NOWHERE, /^there is no such package/],
  ])("names the cause: %s", (_what, lines, way, advice) => {
    expect(adviceForNetwork(lines, way)).toMatch(advice);
  });
});

describe("adviceForNetwork", () => {
  test.each([
    npm("SELF_SIGNED_CERT_IN_CHAIN"),
    npm("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
    "npm error request to https://registry.example.com/x failed, reason: self-signed certificate in certificate chain",
    "  ╰─▶ invalid peer certificate: UnknownIssuer",
    "requests.exceptions.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
  ])("names the variables for a company's authority: %s", (line) => {
    expect(adviceForNetwork([line], NOWHERE)).toMatch(/NODE_EXTRA_CA_CERTS .*SSL_CERT_FILE/);
  });

  test("says where else to look when there is an authority already", () => {
    const advice = adviceForNetwork([npm("SELF_SIGNED_CERT_IN_CHAIN")], { ...NOWHERE, authority: "/ca.pem" });
    expect(advice).toMatch(/not in NODE_EXTRA_CA_CERTS \(\/ca\.pem\).*cafile/);
  });

  test("tells a proxy that does not answer from a registry that does not", () => {
    expect(adviceForNetwork([npm("ECONNREFUSED")], { ...NOWHERE, proxy: "proxy:3128" })).toMatch(
      /^the proxy proxy:3128 /,
    );
    expect(adviceForNetwork([npm("ECONNREFUSED")], NOWHERE)).toMatch(/^the registry does not answer/);
  });

  test.each([
    [npm("ENOTFOUND"), /cannot be resolved.*HTTPS_PROXY/],
    ["npm error 407 Proxy Authentication Required - GET https://x", /wants a password/],
    ["npm error code E401", /~\/\.npmrc/],
    ["npm error code E404", /no such package/],
  ])("says what to set: %s", (line, advice) => {
    expect(adviceForNetwork([line], NOWHERE)).toMatch(advice);
  });

  test("does not take what a server says of its own database for a registry", () => {
    expect(adviceForNetwork(["Error: connect ECONNREFUSED 127.0.0.1:5432"], NOWHERE)).toBeUndefined();
  });

  test("goes by the last line that names a cause", () => {
    const lines = [npm("ENOTFOUND"), "npm error code E404", "npm error request to it failed"];
    expect(adviceForNetwork(lines, NOWHERE)).toMatch(/no such package/);
  });
});

describe("wayOutOf", () => {
  test("takes what the config gives the server first, and never shows a password", () => {
    const inherited = { HTTPS_PROXY: "http://ann:secret@proxy:3128", NODE_EXTRA_CA_CERTS: "/ca.pem" };
    expect(wayOutOf({}, inherited)).toEqual({ proxy: "proxy:3128", authority: "/ca.pem" });
    expect(wayOutOf({ HTTPS_PROXY: "ann:secret@other:1" }, inherited).proxy).toBe("other:1");
  });
});
