/** From a request to the input of an operation. What two readers could understand differently is refused. */
import {
  checkUtf8,
  contentDigest,
  type HttpRequest,
  JsonFault,
  type Operation,
  refuseRepeatedKeys,
  stringOf,
} from "../../contract/index.ts";
import { shapeOf } from "./operation-shape.ts";
import { Refusal } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import type { RoutedOperation } from "./route-table.ts";

const YAML_TYPE = /^(?:application|text)\/(?:x-)?yaml\s*(?:;|$)/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

const JSON_ONLY = ["application/json"] as const;
const YAML = "application/yaml";

/** To read YAML takes much longer than JSON, and all calls wait: nobody has it done who only calls, or is not known. */
export function bodyTypes({ role }: Pick<Operation, "role">): readonly string[] {
  return role === "anyone" || role === "caller" ? JSON_ONLY : [...JSON_ONLY, YAML];
}

/** `text`: the body, with one character per byte. Throws Refusal. */
export async function readInput(
  { operation, parameters }: RoutedOperation,
  request: HttpRequest,
  text: string,
): Promise<unknown> {
  const digest = request.headers["content-digest"];
  if (digest !== undefined && digest !== contentDigest(text, "latin1"))
    throw new Refusal(400, "The body is not the one that `Content-Digest` is of, as one SHA-256.");
  const named = { ...readQuery(request.url), ...parameters };
  // No store can keep it, and no name has it.
  if (Object.values(named).some((value) => value.includes("\0")))
    throw new Refusal(400, "U+0000 stands in the address.");
  const given = { ...named, ...(await readBody(operation, request, text)) };
  const checked = operation.input.check(given);
  if ("value" in checked) return checked.value;
  throw new Refusal(422, "The input is not what the operation takes; `problems` says what is wrong where.", {
    problems: checked.problems.slice(0, MAX_PROBLEMS),
  });
}

const MAX_PROBLEMS = 20;

function readQuery(url: string): Record<string, string> {
  const at = url.indexOf("?");
  if (at < 0) return {};
  const pairs = [...new URLSearchParams(url.slice(at + 1))];
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw new Refusal(400, "A query parameter is repeated.");
  if (names.has("body")) throw new Refusal(400, "The query has no parameter `body`: send it as the body.");
  return Object.fromEntries(pairs);
}

async function readBody(
  operation: Operation,
  { headers }: HttpRequest,
  text: string,
): Promise<{ readonly body?: unknown }> {
  const { body } = shapeOf(operation);
  if (text === "") {
    if (body?.isRequired) throw new Refusal(400, "The operation takes a body, and there is none.");
    return {};
  }
  if (!body) throw new Refusal(400, "The operation takes no body.");
  const type = headers["content-type"] ?? "";
  const types = bodyTypes(operation);
  if (YAML_TYPE.test(type) && types.includes(YAML)) return { body: await readYaml(decoded(text)) };
  if (JSON_TYPE.test(type)) return { body: parseBody(text) };
  throw new Refusal(415, `Send the body as ${types.join(" or ")}.`, { lines: `Accept: ${types.join(", ")}\r\n` });
}

function decoded(text: string): string {
  try {
    checkUtf8(text);
    return stringOf(text);
  } catch {
    throw new Refusal(400, "The body is not UTF-8.");
  }
}

function parseBody(text: string): unknown {
  try {
    checkUtf8(text);
    refuseRepeatedKeys(text);
    return JSON.parse(stringOf(text));
  } catch (error) {
    if (error instanceof JsonFault) throw new Refusal(400, `The body is not usable JSON: ${error.message}.`);
    throw new Refusal(400, "The body is not JSON.");
  }
}
