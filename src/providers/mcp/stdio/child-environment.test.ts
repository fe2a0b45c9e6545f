import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

const OWN_NODE = dirname(process.execPath);

describe("childEnvironment", () => {
  test.each([
    [
      "a company's certificate authority",
      { NODE_EXTRA_CA_CERTS: "/ca.pem", SSL_CERT_FILE: "/ca.pem", SSL_CERT_DIR: "/ca" },
    ],
    ["the same in the words of Python and curl", { REQUESTS_CA_BUNDLE: "/ca.pem", CURL_CA_BUNDLE: "/ca.pem" }],
    ["proxies in capitals", { HTTP_PROXY: "http://p:1", HTTPS_PROXY: "http://u:p@p:1", ALL_PROXY: "x", NO_PROXY: "y" }],
    [
      "proxies in small letters",
      { http_proxy: "http://p:1", https_proxy: "http://p:1", all_proxy: "x", no_proxy: "y" },
    ],
    [
      "npm's settings",
      { npm_config_registry: "https://r", NPM_CONFIG_CAFILE: "/ca.pem", "npm_config_@co:registry": "x" },
    ],
    [
      "npm's files",
      { npm_config_userconfig: "/u", npm_config_cache: "/c", npm_config_prefix: "/p", npm_config_proxy: "x" },
    ],
    [
      "pip's and uv's settings",
      { PIP_INDEX_URL: "https://i", PIP_CERT: "/c", UV_DEFAULT_INDEX: "x", UV_NATIVE_TLS: "1" },
    ],
    [
      "what Windows needs",
      { SystemRoot: "C:\\Windows", APPDATA: "a", "ProgramFiles(x86)": "p", ComSpec: "c", PATHEXT: "x" },
    ],
  ])("hands on %s", (_what, parent) => {
    expect(childEnvironment(parent, {})).toEqual(parent);
  });

  test.each([
    ["a secret of ours", { ISTHMUS_TOKEN: "t", DATABASE_URL: "postgres://u:p@h/d", AWS_SECRET_ACCESS_KEY: "s" }],
    [
      "tokens of registries",
      { "npm_config_//registry.npmjs.org/:_authToken": "t", NPM_TOKEN: "t", npm_config__auth: "t" },
    ],
    ["passwords of indexes", { UV_INDEX_COMPANY_PASSWORD: "p", UV_PUBLISH_TOKEN: "t", PIP_PASSWORD: "p" }],
    ["what npm says about the script it runs", { npm_config_local_prefix: "/clone", npm_package_name: "isthmus" }],
    ["how npm was told to be silent", { npm_config_loglevel: "silent", npm_lifecycle_event: "start", INIT_CWD: "/" }],
    [
      "what would change its program",
      { NODE_OPTIONS: "--require /x", LD_PRELOAD: "/x", NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    ],
    ["a function of a shell", { SHELL: "() { :; }" }],
  ])("keeps back %s", (_what, parent) => {
    expect(childEnvironment(parent, {})).toEqual({});
  });

  test("takes what the config says instead, however its letters are written", () => {
    const parent = { HTTPS_PROXY: "http://a:1", https_proxy: "http://a:1", HOME: "/h" };
    expect(childEnvironment(parent, { HTTPS_PROXY: "http://b:1" })).toEqual({ HTTPS_PROXY: "http://b:1", HOME: "/h" });
  });

  const gyp = "/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin";
  test.each([
    ["as it is when nothing was put before it", "/usr/bin:/bin", "/usr/bin:/bin"],
    ["without what npm put before it", `/w/c/node_modules/.bin:/w/node_modules/.bin:${gyp}:/usr/bin`, "/usr/bin"],
    [
      "without what a script within a script put before it",
      `/c/node_modules/.bin:${gyp}:/c/node_modules/.bin:/node_modules/.bin:${gyp}:/bin`,
      "/bin",
    ],
    [
      "with a folder of the user's own that looks like it",
      `/c/node_modules/.bin:${gyp}:/me/node_modules/.bin:/bin`,
      "/me/node_modules/.bin:/bin",
    ],
    ["with one that no npm has put there", "/me/node_modules/.bin:/bin", "/me/node_modules/.bin:/bin"],
  ])("gives the PATH %s, and our own Node last", (_what, path, expected) => {
    expect(childEnvironment({ PATH: path }, {})).toEqual({ PATH: `${expected}:${OWN_NODE}` });
  });

  test("does not name the folder of our own Node twice", () => {
    expect(childEnvironment({ PATH: `${OWN_NODE}:/bin` }, {}).PATH).toBe(`${OWN_NODE}:/bin`);
  });
});
