import { describe, expect, test } from "vitest";
import { jsonText, payload } from "../../../contract/index.ts";
import { isWrapped, projectOutputSchema, projectTool } from "./output-schema.ts";

const tool = (parts: object) => payload(jsonText({ name: "t", inputSchema: { type: "object" }, ...parts }));

describe("projectOutputSchema", () => {
  test("leaves an object at the root as it is", () => {
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } };
    expect(projectOutputSchema(schema)).toEqual({ schema, isWrapped: false });
  });

  test("wraps any other root and moves its local references along", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "array",
      items: { anyOf: [{ $ref: "#/$defs/node" }, { $ref: "#" }, { $ref: "#anchor" }, { $ref: "https://a.b/c#/d" }] },
      $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } },
    };
    expect(projectOutputSchema(schema)).toEqual({
      isWrapped: true,
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          result: {
            type: "array",
            items: {
              anyOf: [
                { $ref: "#/properties/result/$defs/node" },
                { $ref: "#/properties/result" },
                { $ref: "#anchor" },
                { $ref: "https://a.b/c#/d" },
              ],
            },
            $defs: { node: { properties: { next: { $ref: "#/properties/result/$defs/node" } } } },
          },
        },
        required: ["result"],
      },
    });
  });

  test("does not take data for schemas", () => {
    const schema = { enum: [{ $ref: "#/$defs/a" }], default: true, properties: { $ref: { const: { $ref: "#" } } } };
    expect(projectOutputSchema(schema)?.schema).toMatchObject({ properties: { result: schema } });
  });

  test("leaves references inside a subschema with its own address alone", () => {
    const inner = { $id: "urn:x", properties: { a: { $ref: "#/$defs/b" } } };
    expect(projectOutputSchema({ type: "array", items: inner })?.schema).toMatchObject({
      properties: { result: { items: inner } },
    });
  });

  test("turns boolean subschemas into objects, but not where every draft has booleans", () => {
    const schema = { type: "object", properties: { a: true, b: false }, additionalProperties: false };
    expect(projectOutputSchema(schema)?.schema).toEqual({
      type: "object",
      properties: { a: {}, b: { not: {} } },
      additionalProperties: false,
    });
    expect(projectOutputSchema(true)).toEqual({
      isWrapped: true,
      schema: { type: "object", properties: { result: {} }, required: ["result"] },
    });
  });

  test.each([
    ["a root with an address", { $id: "urn:x", type: "array" }],
    ["a recursive reference", { type: "array", items: { $recursiveRef: "#" } }],
    ["a reference to an unknown place", { type: "array", items: { $ref: "#/components/a" } }],
    ["something that is no schema", 7],
  ])("gives up on %s", (_, schema) => {
    expect(projectOutputSchema(schema)).toBeUndefined();
  });
});

describe("projectTool", () => {
  test("gives the same payload when nothing must change", () => {
    const definition = tool({ outputSchema: { type: "object" } });
    expect(projectTool(definition)).toBe(definition);
    const plain = tool({ inputSchema: { type: "object", additionalProperties: false } });
    expect(projectTool(plain)).toBe(plain);
  });

  test("changes the schemas alone", () => {
    const definition = tool({
      inputSchema: { type: "object", properties: { x: true } },
      outputSchema: { type: "array" },
      "x-own": 1,
    });
    expect(projectTool(definition).value()).toEqual({
      name: "t",
      inputSchema: { type: "object", properties: { x: {} } },
      outputSchema: { type: "object", properties: { result: { type: "array" } }, required: ["result"] },
      "x-own": 1,
    });
    expect(isWrapped(definition)).toBe(true);
    expect(isWrapped(tool({}))).toBe(false);
  });

  test("drops an output schema that cannot be projected, and keeps the tool", () => {
    const definition = tool({ outputSchema: { $id: "urn:x", type: "array" } });
    expect(projectTool(definition).value()).toEqual({ name: "t", inputSchema: { type: "object" } });
    expect(isWrapped(definition)).toBe(false);
  });
});
