/** What an operator learns of: whoever is of a tenant does not learn what there is for others. */
import { type Principal, tenantOf } from "../../../contract/index.ts";
import type { Question } from "../decide.ts";
import { isOfferedTo } from "../offered-to.ts";
import type { AccessOperationParts, OfferedPrimitive } from "./parts.ts";

export function isSeen({ access, now }: AccessOperationParts, by: Principal, question: Question): boolean {
  const looking = tenantOf(by);
  return looking === undefined || isOfferedTo(access.policy, looking, question, now());
}

/**
 * Whether an operator may be told of this name at all: what is denied to all of a tenant is to its operators as what is not there, so
 * of neither they hear anything. What a server that is away has, and where a template leads, cannot be told.
 */
export function isKnown(parts: AccessOperationParts, by: Principal, question: Question): boolean {
  if (tenantOf(by) === undefined) return true;
  if (!isSeen(parts, by, question)) return false;
  const own = parts.primitives().filter(({ server }) => server === question.server);
  if (own.length === 0) return parts.hasServer(question.server);
  if (own.some(({ name }) => name === question.name)) return true;
  return isOpenName(question.name) && own.some((one) => isSeen(parts, by, asMcp(one)));
}

/** It is a pattern, or a URI, which a template may lead to. */
export function isOpenName(name: string): boolean {
  return /[*:]/.test(name);
}

/** Of what is offered now. */
export function seenBy(parts: AccessOperationParts, by: Principal): readonly OfferedPrimitive[] {
  return parts.primitives().filter((one) => isSeen(parts, by, asMcp(one)));
}

/**
 * Whether a server has something of this name now. Undefined where that cannot be told: nothing of the server is there to see,
 * or it is a pattern, or a URI, which a template may lead to.
 */
export function isOffered(
  parts: AccessOperationParts,
  by: Principal,
  { server, name }: Pick<OfferedPrimitive, "server" | "name">,
): boolean | undefined {
  const own = seenBy(parts, by).filter((one) => one.server === server);
  if (own.some((one) => one.name === name)) return true;
  return own.length === 0 || isOpenName(name) ? undefined : false;
}

export function asMcp({ server, kind, name, dotted }: OfferedPrimitive): Question {
  return { server, kind, name, dotted, protocol: "mcp", catalog: "" };
}
