/** What of an operation's input stands where in a request: in its path, its query, its body. */
import type { Operation } from "../../contract/index.ts";

export type OperationShape = {
  readonly path: readonly string[];
  readonly query: readonly { readonly name: string; readonly schema: object; readonly isRequired: boolean }[];
  readonly body?: { readonly schema: object; readonly isRequired: boolean };
};

type ObjectSchema = { properties?: Record<string, object>; required?: readonly string[]; $defs?: object };

const shapes = new WeakMap<Operation, OperationShape>();

export function shapeOf(operation: Operation): OperationShape {
  const known = shapes.get(operation);
  if (known) return known;
  const { properties = {}, required = [] } = operation.input.json as ObjectSchema;
  const path = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const others = Object.entries(properties).filter(([name]) => name !== "body" && !path.includes(name));
  const { body } = properties;
  const shape = {
    path,
    query: others.map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) })),
    ...(body && { body: { schema: body, isRequired: required.includes("body") } }),
  };
  shapes.set(operation, shape);
  return shape;
}

/** The schema of one path parameter. */
export function parameterSchema({ input }: Operation, name: string): object {
  return (input.json as ObjectSchema).properties?.[name] ?? { type: "string" };
}
