import { describe, expect, test } from "vitest";
import { RefusedBatch, readMessages } from "./read-messages.ts";

const notice = '{"jsonrpc":"2.0","method":"notifications/x"}';
const answerTo = (id: number) => `{"jsonrpc":"2.0", "id" : ${id},"result":{}}`;
const batchOf = (...messages: string[]) => `[${messages.join()}]`;

function faultOf(text: string, hasBatches: boolean): unknown {
  try {
    readMessages(text, hasBatches);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("readMessages", () => {
  test("gives the messages of a batch where there are batches", () => {
    expect(readMessages(batchOf(notice, answerTo(3)), true).map(({ id }) => id)).toEqual(["", "3"]);
  });

  test.each([
    ["where there are none", batchOf(notice, answerTo(3)), false],
    ["of more than 256 messages", batchOf(...Array<string>(256).fill(notice), answerTo(3)), true],
  ])("refuses a batch %s, and says whose answers may stand in it", (_, text, hasBatches) => {
    const fault = faultOf(text, hasBatches);
    expect(fault).toBeInstanceOf(RefusedBatch);
    expect(fault).toMatchObject({ code: -32600, ids: new Set(["3"]) });
  });

  test("reads a few of the ids in a batch that it refuses", () => {
    const ids = Array.from({ length: 100_000 }, (_none, at) => answerTo(at));
    const { ids: found } = faultOf(batchOf(...ids), true) as RefusedBatch;
    expect(found.size).toBe(1024);
  });
});
