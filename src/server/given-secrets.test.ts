import { expect, test } from "vitest";
import { Secret } from "./config/secret.ts";
import { secretsOf } from "./given-secrets.ts";

test("is what a table refers to, and what is called or looks like a secret; not what an operator may read", () => {
  const env = {
    FROM_ENV: new Secret("referred-value"),
    URL: new Secret("https://host/referred-part", ["referred-part"]),
    GITHUB_TOKEN: new Secret("written-token", []),
    OPENAI_KEY: new Secret("written-key", []),
    DSN: new Secret("postgres://ann:pw@host/db", []),
    ROOT: new Secret("/srv/data", []),
    LOG_LEVEL: new Secret("debug", []),
  };
  const args = ["--root", "/srv", "--api-key", "arg-key", "--password=arg-pass", "--port=80", "ghp_0123456789abcdef"];
  expect(secretsOf({ env, args })).toEqual([
    "referred-value",
    "referred-part",
    "written-token",
    "written-key",
    "postgres://ann:pw@host/db",
    "arg-key",
    "arg-pass",
    "ghp_0123456789abcdef",
  ]);
});
