/** Whether somebody can say yes to the calls that wait. */
import { existsSync } from "node:fs";
import { approverAdvice, type Evidence, evidenceText } from "../../contract/index.ts";
import type { Config } from "../../server/config/index.ts";
import { hasApprovers } from "../../server/config/index.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** A gateway knows whoever runs it by the token that `isthmus up` makes. */
export function checkApprovals(config: Config): Finding {
  const wanted = wantedBy(config);
  if (wanted.length === 0) return ok("approvals", "no call waits for a yes");
  const present = withPresentKeys(config);
  const mute = wanted.find((evidence) => !hasApprovers(present, evidence, true));
  if (mute === undefined) return ok("approvals", `a call that waits needs ${words(wanted, present)}`);
  return warning("approvals", `calls wait for a yes (${mute}) that nobody can give`, approverAdvice(mute, PROGRAM));
}

/** Whether calls may need a yes that no client of `isthmus stdio` can give by itself. */
export function needsOthers(config: Config): boolean {
  return config.gate.anchors.length === 0 && wantedBy(config).some((evidence) => evidence !== "session_user");
}

function wantedBy({ gate, access }: Config): Evidence[] {
  const rules = access.rules.flatMap(({ effect, evidence }) => (effect === "confirm" ? [evidence] : []));
  return gate.mode === "open" ? rules : [gate.evidence, ...rules];
}

/** A file that a gateway trusts may be made later: until then nobody signs with its key. */
function withPresentKeys(config: Config): Config {
  const anchors = config.gate.anchors.filter(({ file }) => file === undefined || existsSync(file));
  return { ...config, gate: { ...config.gate, anchors } };
}

function words(wanted: readonly Evidence[], { gate }: Config): string {
  return [...new Set(wanted)].map((evidence) => evidenceText(evidence, gate.anchors.length > 0)).join("; or ");
}
