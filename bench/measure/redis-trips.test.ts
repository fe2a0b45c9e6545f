import assert from "node:assert/strict";
import { test } from "node:test";
import { isTrip } from "./redis-trips.ts";

const line = (from: string, words: string): string => `+1763211000.123456 [0 ${from}] ${words}`;
const CLIENT = "127.0.0.1:4711";

test("a script of a call is a trip, whatever members it names among its arguments", () => {
  assert.equal(isTrip(line(CLIENT, '"evalsha" "ab12" "2" "" "isthmus:open:s1" "isthmus:member:" "c1"')), true);
  assert.equal(isTrip(line(CLIENT, '"publish" "isthmus:topic:session:s1" "x"')), true);
});

test("what a script does inside Redis is none", () => {
  assert.equal(isTrip(line("lua", '"HSET" "isthmus:open:s1" "c1" "x"')), false);
});

test("the renewal of a lease is none of a call's", () => {
  assert.equal(isTrip(line(CLIENT, '"evalsha" "cd34" "1" "isthmus:member:m1" "15000"')), false);
});

test("the answer to MONITOR itself is none", () => {
  assert.equal(isTrip("+OK"), false);
});
