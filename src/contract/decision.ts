/** What one decision function says about one call, and why. */
export type Decision = {
  /** confirm: allowed once somebody with that evidence has said yes. */
  readonly effect: "allow" | "deny" | "confirm";
  /** What decided: `block`, `exposure`, `tool_grant`, `server_grant`, `binding`, `scope`, `rule`, `default_policy`. */
  readonly source: string;
  /** For people: one sentence. */
  readonly reason: string;
  /** For `confirm`. */
  readonly evidence?: Evidence;
};

/** Who has said yes, from the weakest to the strongest. */
export const EVIDENCE = ["none", "session_user", "operator", "external_proof"] as const;
export type Evidence = (typeof EVIDENCE)[number];

export function isEnough(given: Evidence, needed: Evidence): boolean {
  return EVIDENCE.indexOf(given) >= EVIDENCE.indexOf(needed);
}
