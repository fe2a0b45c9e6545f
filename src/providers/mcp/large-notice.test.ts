import { describe, expect, test } from "vitest";
import { isTooLarge, peekNotice } from "./large-notice.ts";
import { readMessages } from "./read-messages.ts";

const MIB = 1024 * 1024;
const long = "x".repeat(MIB);

describe("a notification", () => {
  test.each([
    ["as most write it", `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${long}"}}`],
    ["without its version first", `{ "method" : "notifications/x", "params" : {"data":"${long}"}, "jsonrpc":"2.0"}`],
  ])("of more than a MiB, %s, is not read", (_, text) => {
    const [message] = readMessages(text, true);
    expect(message?.members).toBeUndefined();
    expect(message && isTooLarge(message)).toBe(true);
  });

  test.each([
    ["params first", `{"jsonrpc":"2.0","params":{"data":"${long}"},"method":"notifications/message"}`],
    ["something like an id at its end", `{"jsonrpc":"2.0","method":"n","params":{"data":"${long}","id":1}}`],
  ])("of more than a MiB with %s is read, and too large", (_, text) => {
    expect(peekNotice(text)).toBeUndefined();
    expect(readMessages(text, true).map(isTooLarge)).toEqual([true]);
  });

  test("of a MiB is told", () => {
    const frame = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":""}}'.length;
    const text = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${"x".repeat(MIB - frame)}"}}`;
    expect(readMessages(text, true).map(isTooLarge)).toEqual([false]);
  });
});

test.each([
  ["a question", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"data":"${long}"}}`],
  [
    "a question with its id last",
    `{"jsonrpc":"2.0","method":"sampling/createMessage","params":{"d":"${long}"},"id":1}`,
  ],
  ["an answer", `{"jsonrpc":"2.0","id":1,"result":{"data":"${long}"}}`],
])("%s of more than a MiB is read as ever", (_, text) => {
  expect(readMessages(text, true).map(isTooLarge)).toEqual([false]);
});
