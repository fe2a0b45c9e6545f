import pg from "pg";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../contract/index.ts";
import { scrubber } from "./postgres-config.ts";
import { isAway, postgresError, reasonOf } from "./postgres-errors.ts";

const asItIs = (text: string) => text;

function fromServer(code: string, message = "said the server"): Error {
  const error = new pg.DatabaseError(message, 0, "error");
  error.code = code;
  error.severity = "ERROR";
  return error;
}

describe("postgresError", () => {
  test.each([
    ["the server shuts down", fromServer("57P01"), "STATE_UNAVAILABLE", true],
    ["the server is starting", fromServer("57P03"), "STATE_UNAVAILABLE", true],
    ["too many connections", fromServer("53300"), "STATE_UNAVAILABLE", true],
    ["the disk is full", fromServer("53100"), "STATE_UNAVAILABLE", true],
    ["a standby that only reads", fromServer("25006"), "STATE_UNAVAILABLE", true],
    ["a password that was changed", fromServer("28P01"), "STATE_UNAVAILABLE", true],
    ["nobody listens", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "STATE_UNAVAILABLE", true],
    ["no answer in time", new Error("Query read timeout"), "STATE_UNAVAILABLE", true],
    ["a statement that took too long", fromServer("57014"), "STATE_UNAVAILABLE", false],
    ["a deadlock", fromServer("40P01"), "STATE_UNAVAILABLE", false],
    ["a table that is not there", fromServer("42P01"), "INTERNAL", false],
    ["a mistake in the program", new TypeError("x is not a function"), "INTERNAL", false],
  ])("%s", (_what, error, code, away) => {
    expect(postgresError(error, asItIs).code).toBe(code);
    expect(isAway(error)).toBe(away);
  });

  test("leaves our own errors as they are", () => {
    const own = new GatewayError("BAD_CALL");
    expect(postgresError(own, asItIs)).toBe(own);
    expect(isAway(own)).toBe(false);
  });
});

describe("what is said of a failure", () => {
  const url = "postgres://ann:p%40ss@db/x";
  const scrub = scrubber(url);

  test("holds no password in any form", () => {
    const error = new Error(`cannot reach ${url} with p@ss or p%40ss`);
    expect(reasonOf(error, scrub)).toBe("cannot reach *** with *** or ***");
    expect(String(postgresError(error, scrub).cause)).toBe("Error: cannot reach *** with *** or ***");
  });

  test("names the code once", () => {
    expect(reasonOf(fromServer("57P01"), scrub)).toBe("57P01: said the server");
    expect(reasonOf(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), scrub)).toBe(
      "connect ECONNREFUSED",
    );
  });
});
