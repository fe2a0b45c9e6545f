/** How a finished call went, as `/api/calls` tells it. */
import { objectOf, objectsIn, textOf } from "../json.ts";

export type CallReport = {
  readonly callId: string;
  readonly target: string;
  readonly principal: string;
  readonly front: string;
  readonly code: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly steps: readonly { readonly name: string; readonly ms: number }[];
};

export function readReport(value: unknown): CallReport {
  const report = objectOf(value);
  const word = (key: string) => textOf(report[key]) ?? "";
  return {
    callId: word("callId"),
    target: word("target"),
    principal: word("principal"),
    front: word("front"),
    code: word("code"),
    startedAt: word("startedAt"),
    durationMs: numberOf(report.durationMs),
    steps: objectsIn(report.steps).map(({ name, ms }) => ({ name: textOf(name) ?? "", ms: numberOf(ms) })),
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
