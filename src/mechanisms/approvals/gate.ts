/** Which calls wait for somebody to say yes, by what their tool declares. */
import {
  type Decision,
  type Evidence,
  isEnough,
  MAX_ITEMS,
  MAX_MEMBERS,
  type Payload,
  refuseRepeatedKeys,
  stringOf,
} from "../../contract/index.ts";
import { capabilityOf, declaredBy, membersOf } from "./capability.ts";

/** declared: tools that say they do what cannot be taken back; strict: also those that say nothing; open: none. */
export type GateMode = "declared" | "strict" | "open";

export type Gate = {
  /** Why: `irreversible_mutable`, `undeclared`, `confirmation_required`, or a rule's own words. */
  readonly reason: string;
  readonly evidence: Evidence;
  /** As JSON. */
  readonly capability: string;
};

export type GateRules = { readonly mode: GateMode; readonly evidence: Evidence };

/** What is known about a tool before anybody calls it. */
export type Safety = {
  /** It changes what cannot be changed back. */
  readonly isIrreversible: boolean;
  readonly gate: Gate | undefined;
};

/** What a definition must have for anything here to matter, written plainly or in escapes: most have nothing of it. */
const SPEAKS = /destructiveHint|x-mcpax-capability|confirmation_required|\\u/;

const HARMLESS: Safety = { isIrreversible: false, gate: undefined };

/** Its definition could be read in two ways, or has more parts than anybody reads: then it is taken at the worst. */
const AMBIGUOUS = { annotations: { destructiveHint: true } };

export function safetyOf(definition: Payload, rules: GateRules): Safety {
  if (rules.mode !== "strict" && !SPEAKS.test(definition.text)) return HARMLESS;
  const members = readable(definition);
  const { mutable, reversible, isDeclared } = declaredBy(members);
  const isIrreversible = mutable && !reversible && (isDeclared || rules.mode === "strict");
  const capability = () => JSON.stringify(capabilityOf(members));
  if (rules.mode === "open") return { isIrreversible, gate: undefined };
  if (isIrreversible) {
    const reason = isDeclared ? "irreversible_mutable" : "undeclared";
    return { isIrreversible, gate: { reason, evidence: rules.evidence, capability: capability() } };
  }
  const gate: Gate | undefined = wantsConfirmation(members)
    ? { reason: "confirmation_required", evidence: "session_user", capability: capability() }
    : undefined;
  return { isIrreversible, gate };
}

function readable(definition: Payload): Readonly<Record<string, unknown>> {
  try {
    const { text } = definition;
    refuseRepeatedKeys(text, MAX_MEMBERS, MAX_ITEMS);
    // Not the payload's own value: that would be kept for as long as the tool is offered.
    return membersOf(JSON.parse(stringOf(text)));
  } catch {
    return AMBIGUOUS;
  }
}

/** MGP's security metadata, in each place where it may stand. */
function wantsConfirmation(definition: Readonly<Record<string, unknown>>): boolean {
  const own = membersOf(membersOf(definition._meta)["dev.cloto/mgp"]);
  return [definition, own, membersOf(own.security)].some(
    (place) => place.confirmation_required === true || membersOf(place.security).confirmation_required === true,
  );
}

/** Both what the tool declares and what a rule says: the stricter of the two. */
export function stricter(gate: Gate | undefined, decision: Decision | undefined): Gate | undefined {
  if (!decision) return gate;
  const evidence = decision.evidence ?? "operator";
  if (gate && isEnough(gate.evidence, evidence)) return gate;
  return { reason: decision.source, evidence, capability: gate?.capability ?? "{}" };
}
