import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOfBase64Url } from "./base64url.ts";

describe("bytesOfBase64Url", () => {
  test("reads what was written, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64url");
        expect(bytesOfBase64Url(text)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test.each(["YQ==", "YQ=", "YR", "YWJ", "YQ\n", " YQ", "Y Q", "a+b/", "YQ\0", "Y", "ＹＱ"])(
    "takes %j for nothing: it is not the one spelling of its bytes",
    (text) => expect(bytesOfBase64Url(text)).toBeUndefined(),
  );
});
