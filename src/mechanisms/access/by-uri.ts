/**
 * Decisions about resources, whose names are URIs: those that can be read in two ways are refused, and what some servers drop
 * makes no difference.
 */
import type { Block } from "../../contract/index.ts";
import type { AccessDecision, Prelude, Question } from "./decide.ts";
import { barest } from "./plain-path.ts";
import type { AccessPolicy, TenantPolicy } from "./policy.ts";
import type { Judged } from "./reach.ts";
import { hasKnownScheme, hasOpenAddress, withAddressEnd } from "./uri-address.ts";

/** What says that a URI cannot be judged. */
export const FORM = "uri";

/** It is shown, with the reason: that a text cannot be read in one way tells nothing of what there is. */
export function unreadable(question: Question, fault: string): Judged {
  const reason = `"${question.dotted}" cannot be judged, because ${fault}`;
  const decision: AccessDecision = { effect: "deny", source: FORM, reason, isShown: true, isUnreadable: true };
  const prelude: Prelude = { steps: [], denied: decision, allowed: undefined, own: undefined, fallback: decision };
  return { question, prelude, decision, unconditional: [], conditional: [], isVisible: true, isFaulty: false };
}

/** A question, and what it is decided by: what operators say, and the blocks that are about the caller. */
export type PolicyQuestion = {
  readonly policy: AccessPolicy;
  readonly blocks: readonly Block[];
  readonly question: Question;
};
/** A question, and all that it is decided by, in the barest form. */
export type Barest = (question: Question) => PolicyQuestion;

/** Patterns are written by people: with escapes or without, the same is meant. So it is with what else servers drop. */
export function barestOf(policy: AccessPolicy, blocks: readonly Block[]): Barest {
  const rows = rowsOf(policy);
  const primitives = [...rows.bindings, ...rows.exposures].map(({ primitive }) => primitive);
  const patterns = [...primitives, ...[...policy.scopes, ...policy.rules].map(({ match }) => match)];
  const bare = patterns.every((one) => barest(one) === one) ? policy : withPatterns(policy, barest);
  const ended = patterns.some(hasOpenAddress) ? withPatterns(bare, withAddressEnd) : undefined;
  const bareBlocks = withNames(blocks, barest);
  const endedBlocks = withNames(bareBlocks, withAddressEnd);
  return (question) => {
    const { name, dotted } = question;
    const isEnded = ended !== undefined && hasKnownScheme(name);
    const form = isEnded ? withAddressEnd(barest(name)) : barest(name);
    const asked = { ...question, name: form, dotted: dotted.slice(0, dotted.length - name.length) + form };
    return {
      policy: isEnded ? ended : bare,
      blocks: isEnded ? endedBlocks : bareBlocks,
      question: form === name ? question : asked,
    };
  };
}

/** The same blocks where none of their names has another form. */
function withNames(blocks: readonly Block[], formOf: (name: string) => string): readonly Block[] {
  if (blocks.every(({ primitive }) => formOf(primitive) === primitive)) return blocks;
  return blocks.map((block) => ({ ...block, primitive: formOf(block.primitive) }));
}

function withPatterns(policy: AccessPolicy, formOf: (pattern: string) => string): AccessPolicy {
  const rewritten = <Rows extends TenantPolicy>({ bindings, exposures, ...rest }: Rows) => ({
    ...rest,
    bindings: bindings.map((row) => ({ ...row, primitive: formOf(row.primitive) })),
    exposures: exposures.map((row) => ({ ...row, primitive: formOf(row.primitive) })),
  });
  return {
    ...policy,
    ...rewritten(policy),
    scopes: policy.scopes.map((row) => ({ ...row, match: formOf(row.match) })),
    rules: policy.rules.map((row) => ({ ...row, match: formOf(row.match) })),
    tenants: new Map([...policy.tenants].map(([id, own]) => [id, rewritten(own)])),
  };
}

/** The platform's and the tenants' own. */
export function rowsOf({ tenants, ...platform }: AccessPolicy): TenantPolicy {
  const all: readonly TenantPolicy[] = [platform, ...tenants.values()];
  return {
    grants: all.flatMap(({ grants }) => grants),
    bindings: all.flatMap(({ bindings }) => bindings),
    exposures: all.flatMap(({ exposures }) => exposures),
    defaults: all.flatMap(({ defaults }) => defaults),
  };
}
