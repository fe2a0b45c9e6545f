/** Tools and prompts that are not what they were when they were first seen. */

import type { PinReport } from "../../server/pin-file-of.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const SHOWN = 5;

/** `report`: undefined when nothing is remembered. */
export function describePins(report: PinReport | undefined): Finding[] {
  if (!report) return [];
  if (report.problem !== undefined) return [faultOf(report.problem)];
  const changed = report.pins.filter(({ changes, mode }) => changes.length > 0 && mode !== undefined && mode !== "off");
  if (changed.length === 0) return [ok("pins", `${report.pins.length} pinned, none has changed`)];
  const held = changed.filter(({ mode }) => mode === "block").length;
  const names = changed.slice(0, SHOWN).map(({ name }) => name);
  const rest = changed.length > SHOWN ? ` and ${changed.length - SHOWN} more` : "";
  return [
    warning(
      "pins",
      `changed since first seen${held > 0 ? ` (${held} held back)` : ""}: ${names.join(", ")}${rest}`,
      `"${PROGRAM} pin list" shows what has changed, "${PROGRAM} pin accept <name>" accepts it`,
    ),
  ];
}

function faultOf(fault: string): Finding {
  // The gateway may read it: what it has pinned must not be thrown away.
  if (/\((?:EACCES|EPERM)\)/.test(fault))
    return warning("pins", fault, "run doctor as the user that runs the gateway, or let this one read the file");
  return problem("pins", fault, "move the file away; it is then made anew");
}
