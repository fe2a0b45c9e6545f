import { expect, test } from "vitest";
import * as z from "zod";
import { schemaOf } from "./index.ts";

test("says what is wrong where, as JSON pointers, and describes itself as JSON Schema", () => {
  const schema = schemaOf(z.strictObject({ orgId: z.string(), body: z.strictObject({ "a/b": z.number() }) }));
  expect(schema.check({ orgId: "x", body: { "a/b": 1 } })).toEqual({ value: { orgId: "x", body: { "a/b": 1 } } });
  expect(schema.check({ orgId: 1, body: { "a/b": "no" } })).toMatchObject({
    problems: [{ path: "/orgId" }, { path: "/body/a~1b" }],
  });
  expect(schema.json).toMatchObject({ type: "object", required: ["orgId", "body"] });
});
