/** The headers of a request of 2026-07-28. They repeat what its body says, so that others on the way need not read it. */
import { decodeString, headerLine, type Payload, stringOf, textsAt } from "../../../contract/index.ts";
import {
  encodeHeader,
  NAMED_METHODS,
  type ParamHeader,
  paramText,
  revision20260728,
} from "../../../wire/mcp/2026-07-28/index.ts";

const VERSION_LINE = headerLine("MCP-Protocol-Version", revision20260728.version);

/** `params` as they are sent; `headers`: the annotated arguments of the tool that is called. */
export function requestHead(method: string, params: Payload, headers: readonly ParamHeader[]): string {
  let head = VERSION_LINE + headerLine("Mcp-Method", encodeHeader(method));
  const nameKey = NAMED_METHODS.get(method);
  const name = nameKey === undefined ? undefined : decodeString(params.at([nameKey]));
  if (name !== undefined) head += headerLine("Mcp-Name", encodeHeader(name));
  return headers.length === 0 ? head : head + paramLines(headers, params);
}

function paramLines(headers: readonly ParamHeader[], params: Payload): string {
  const found = textsAt(
    params.text,
    headers.map(({ path }) => ["arguments", ...path]),
  );
  const lines = headers.map(({ name }, index) => {
    const json = found[index];
    const text = json === undefined ? undefined : textOfArgument(json);
    return text === undefined ? "" : headerLine(`Mcp-Param-${name}`, encodeHeader(text));
  });
  return lines.join("");
}

function textOfArgument(json: string): string | undefined {
  // As a number a long integer would become another one.
  return /^-?\d+$/.test(json) ? json : paramText(JSON.parse(stringOf(json)));
}
