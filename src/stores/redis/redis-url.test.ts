import { expect, test } from "vitest";
import { parseRedisUrl } from "./redis-url.ts";

test("a URL gives host, port, database, user and password, decoded", () => {
  expect(parseRedisUrl("rediss://gate:p%40ss@cache.example:6390/2")).toEqual({
    label: "rediss://cache.example:6390/2",
    host: "cache.example",
    port: 6390,
    database: 2,
    isSecure: true,
    username: "gate",
    password: "p@ss",
  });
});

test("port, database and user may be left out", () => {
  expect(parseRedisUrl("redis://[::1]")).toEqual({
    label: "redis://[::1]:6379/0",
    host: "::1",
    port: 6379,
    database: 0,
    isSecure: false,
  });
  expect(parseRedisUrl("redis://:secret@h/")).toMatchObject({ password: "secret", database: 0 });
});

test.each([
  "cache.example:hidden",
  "http://user:hidden@cache.example",
  "redis://user:hidden@cache.example/main",
  "redis://user:hidden%@cache.example",
  "redis://user:hidden@:99999",
])("%s is refused without repeating it", (url) => {
  const message = (() => {
    try {
      return JSON.stringify(parseRedisUrl(url));
    } catch (error) {
      return error instanceof Error ? `${error.message} ${error.cause ?? ""}` : "";
    }
  })();
  expect(message).toMatch(/^the URL of Redis /);
  expect(message).not.toContain("hidden");
});
