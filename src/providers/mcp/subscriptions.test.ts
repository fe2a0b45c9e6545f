import { expect, test } from "vitest";
import { bytesHeldAfter } from "../../../tests/kit/held-memory.ts";
import { payload } from "../../contract/index.ts";
import { Subscriptions, uriOf } from "./subscriptions.ts";

const MIB = 1024 * 1024;

test("subscriptions keep their URIs, and nothing else of the requests", async () => {
  const subscriptions = new Subscriptions();
  const held = await bytesHeldAfter(() => {
    for (let number = 0; number < 40; number++) {
      const uri = uriOf(payload(`{"uri":"doc://a-folder/and-a-file-${number}","x":"${"x".repeat(MIB)}"}`));
      if (uri !== undefined) subscriptions.hold(uri, "session");
    }
  });
  expect(subscriptions.uris).toContain("doc://a-folder/and-a-file-7");
  expect(held).toBeLessThan(10 * MIB);
});
