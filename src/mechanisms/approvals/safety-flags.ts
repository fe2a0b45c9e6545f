/** Tells clients, in the list, which tools do what cannot be taken back, and which of them wait for somebody's yes. */
import { JsonFault, mapSteps, type Offer, type Payload, type Primitive, type Steps } from "../../contract/index.ts";
import { type GateRules, type Safety, safetyOf } from "./gate.ts";

const SAFETY = ["_meta", "x-mcpax-safety"] as const;
const GATED = ["_meta", "x-mcpax-gated"] as const;

/** What flagged entries were before: they are judged anew when the rules change. */
const unflagged = new WeakMap<Primitive, Primitive>();

/** `screen`: whoever else looks at offers; it sees them as their provider wrote them. */
export function* flagSafety(
  offers: readonly Offer[],
  rules: GateRules,
  screen: (offers: readonly Offer[]) => Steps<readonly Offer[]>,
): Steps<readonly Offer[]> {
  const screened = yield* screen(yield* mapTools(offers, (tool) => unflagged.get(tool) ?? tool));
  return yield* mapTools(screened, (tool) => flagged(tool, rules));
}

function* mapTools(offers: readonly Offer[], change: (tool: Primitive) => Primitive): Steps<readonly Offer[]> {
  const mapped: Offer[] = [];
  for (const offer of offers) mapped.push(offer.kind === "tool" ? yield* mapOffer(offer, change) : offer);
  return mapped;
}

function* mapOffer(offer: Offer, change: (tool: Primitive) => Primitive): Steps<Offer> {
  const primitives = yield* mapSteps(offer.primitives, change);
  return primitives.every((tool, index) => tool === offer.primitives[index]) ? offer : { ...offer, primitives };
}

function flagged(tool: Primitive, rules: GateRules): Primitive {
  const safety = safetyOf(tool.definition, rules);
  if (!safety.isIrreversible && !safety.gate) return tool;
  const { older } = tool;
  const marked: Primitive = {
    ...tool,
    definition: withFlags(tool.definition, safety),
    ...(older && { older: withFlags(older, safety) }),
  };
  unflagged.set(marked, tool);
  return marked;
}

function withFlags(definition: Payload, { isIrreversible, gate }: Safety): Payload {
  const told = isIrreversible ? definition.splice(SAFETY, '"irreversible_mutable"') : definition;
  return gate ? told.splice(GATED, "true") : told;
}

/** Without what is ours in it, and metadata that are empty without it: what two readers could read differently stays as it is. */
export function withoutFlags(definition: Payload): Payload {
  try {
    const bare = definition.splice(SAFETY).splice(GATED);
    return /^\{\s*\}$/.test(bare.at(["_meta"]) ?? "") ? bare.splice(["_meta"]) : bare;
  } catch (error) {
    if (error instanceof JsonFault) return definition;
    throw error;
  }
}
