/** What ways around a gate leave on the trail. */
import { type AttackTrace, TrailWatch } from "../../kit/attack-trace.ts";
import type { GateObject, ValveRig } from "./valve-rig.ts";

/** Of a gateway whose local user may look. */
export function trailOf(rig: () => ValveRig): TrailWatch {
  return new TrailWatch({ origin: () => rig().url });
}

/** It waits for somebody's yes. `gate`: unset where nobody was told which. */
export function held(gate?: GateObject, name = "open", why = "irreversible_mutable"): AttackTrace {
  const details = gate && { approval: gate.confirmation_id };
  return { type: "dev.isthmus.approval.requested", why, name, ...(details && { details }) };
}

/** Somebody's word did not count. `gate`: unset where there is none that they could mean. */
export function undecided(why: string, gate?: GateObject): AttackTrace {
  const known = gate && { server: "plant", details: { approval: gate.confirmation_id } };
  return { type: "dev.isthmus.approval.refused", why, ...known };
}

/** It did not even become a call. */
export function turnedAway(why: string, name?: string): AttackTrace {
  return { type: "dev.isthmus.request_refused", why, ...(name !== undefined && { name }) };
}
