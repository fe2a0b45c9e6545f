/** Tells clients, in the list, which tools do what cannot be taken back, and which of them wait for somebody's yes. */
import type { Offer, Payload, Primitive } from "../../contract/index.ts";
import { type GateRules, type Safety, safetyOf } from "./gate.ts";

/** What flagged entries were before: they are judged anew when the rules change. */
const unflagged = new WeakMap<Primitive, Primitive>();

/** `screen`: whoever else looks at offers; it sees them as their provider wrote them. */
export function flagSafety(
  offers: readonly Offer[],
  rules: GateRules,
  screen: (offers: readonly Offer[]) => readonly Offer[],
): readonly Offer[] {
  return screen(offers.map((offer) => mapTools(offer, (tool) => unflagged.get(tool) ?? tool))).map((offer) =>
    mapTools(offer, (tool) => flagged(tool, rules)),
  );
}

function mapTools(offer: Offer, change: (tool: Primitive) => Primitive): Offer {
  if (offer.kind !== "tool") return offer;
  const primitives = offer.primitives.map(change);
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
  const told = isIrreversible ? definition.splice(["_meta", "x-mcpax-safety"], '"irreversible_mutable"') : definition;
  return gate ? told.splice(["_meta", "x-mcpax-gated"], "true") : told;
}
