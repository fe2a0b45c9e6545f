/** OpenAPI 3.1, made of the same operations that are served. */
import type { Operation } from "../../contract/index.ts";
import { TITLES } from "./http-status.ts";
import { parameterSchema, shapeOf } from "./operation-shape.ts";
import { bodyTypes } from "./read-input.ts";

type Json = Record<string, unknown>;

/** Everything under `/api`, for machines. */
export function describeApi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? {};
    item[operation.method.toLowerCase()] = describeOperation(operation);
    paths[operation.path] = item;
  }
  return {
    openapi: "3.1.0",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: "Isthmus",
      version,
      description:
        "What people and programs do to the gateway itself. Every change is on the audit trail. Roles: viewer, operator and admin, each of which may do what the former may; an `orgId` is the caller's own tenant, unless the caller is of the platform's (`default`).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(tagOf))].sort().map((name) => ({ name })),
    paths,
    components: { schemas: { Problem: PROBLEM }, responses: { Problem: PROBLEM_RESPONSE }, securitySchemes: SCHEMES },
  };
}

const SCHEMES: Json = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A token of `isthmus token create`, or of a configured issuer.",
  },
};

const PROBLEM: Json = {
  type: "object",
  description: "RFC 9457.",
  required: ["type", "title", "status", "detail", "instance", "code"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string", description: "One of the codes of the reference." },
    problems: {
      type: "array",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string", description: "A JSON pointer." }, message: { type: "string" } },
      },
    },
    retryAfterMs: { type: "number" },
    line: { type: "integer", description: "Of a body in YAML that cannot be read." },
    column: { type: "integer" },
  },
};

const PROBLEM_RESPONSE: Json = {
  description: "What is wrong.",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

function describeOperation(operation: Operation): Json {
  const { id, role, summary, method } = operation;
  const { body } = shapeOf(operation);
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    description: describeRole(role),
    "x-role": role,
    ...(role === "anyone" && { security: [] }),
    parameters: describeParameters(operation),
    ...(body && { requestBody: { required: body.isRequired, content: inItsForms(operation, plain(body.schema)) } }),
    responses: { ...describeAnswer(operation), ...describeRefusals(method, role, body !== undefined) },
  };
}

function inItsForms(operation: Operation, schema: object): Json {
  return Object.fromEntries(bodyTypes(operation).map((type) => [type, { schema }]));
}

function describeRole(role: Operation["role"]): string {
  if (role === "anyone") return "Needs no credentials: what is sent proves itself.";
  return role === "caller" ? "For everybody who is known." : `Needs the role ${role}.`;
}

function describeParameters(operation: Operation): Json[] {
  const { path, query } = shapeOf(operation);
  const inPath = path.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: plain(parameterSchema(operation, name)),
  }));
  const inQuery = query.map(({ name, schema, isRequired }) => ({
    name,
    in: "query",
    required: isRequired,
    schema: plain(schema),
  }));
  const condition = operation.method === "GET" ? "If-None-Match" : "If-Match";
  const header = {
    name: condition,
    in: "header",
    required: false,
    description:
      operation.method === "GET" ? "304 where the tag is still the same." : "412 where the tag is another one by now.",
    schema: { type: "string" },
  };
  return operation.isStream === true ? [...inPath, ...inQuery] : [...inPath, ...inQuery, header];
}

function describeAnswer({ output, isStream, method }: Operation): Json {
  const headers = { ETag: { schema: { type: "string" } } };
  if (isStream) {
    return {
      200: { description: "Events, as they happen.", content: { "text/event-stream": { schema: { type: "string" } } } },
    };
  }
  const known = method === "GET" && { 304: { description: "It is what it was." } };
  if (!output) return { 204: { description: "Done." }, ...known };
  const content = { "application/json": { schema: plain(output.json) } };
  return { "2XX": { description: "Done.", headers, content }, ...known };
}

function describeRefusals(method: string, role: Operation["role"], hasBody: boolean): Json {
  const statuses = [
    400,
    ...(role === "anyone" ? [] : [401, 403]),
    404,
    405,
    406,
    ...(method === "GET" ? [] : [409, 412, 428]),
    ...(hasBody ? [413, 415] : []),
    422,
    429,
    500,
    503,
  ];
  const response = { $ref: "#/components/responses/Problem" };
  return Object.fromEntries(statuses.filter((status) => status in TITLES).map((status) => [String(status), response]));
}

function tagOf({ path }: Operation): string {
  return path.split("/")[2] ?? "api";
}

/** Without the mark of its dialect, which the document names once. */
function plain(schema: object): object {
  const { $schema: _dialect, ...rest } = schema as { $schema?: string };
  return rest;
}
