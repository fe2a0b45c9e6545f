/** How calls went, drawn for a person. */
import type { CallReport } from "../client/call-report.ts";
import { tableLines } from "./table.ts";

const BAR_WIDTH = 30;

/** One line per call, as they come. */
export function callLines(calls: readonly CallReport[], width: number): string[] {
  const ends = calls.map(({ callId }) => callId.slice(callId.lastIndexOf("-") + 1));
  const isShort = new Set(ends).size === calls.length;
  const rows = calls.map(({ callId, startedAt, durationMs, code, target }, index) => [
    isShort ? (ends[index] ?? callId) : callId,
    startedAt.slice(11, 23),
    formatMs(durationMs),
    code,
    target,
  ]);
  return tableLines([["CALL", "AT (UTC)", "TOOK", "OUTCOME", "TARGET"], ...rows], { width });
}

/** One bar per step, each where it lay in the whole. */
export function traceLines(call: CallReport, width: number): string[] {
  const { durationMs, steps } = call;
  const barWidth = Math.min(BAR_WIDTH, Math.max(10, width - 40));
  let from = 0;
  const rows = steps.map(({ name, ms }) => {
    const row = [name, formatMs(ms), bar(from, ms, durationMs, barWidth)];
    from += ms;
    return row;
  });
  const nameWidth = Math.max(...rows.map(([name = ""]) => name.length));
  const timeWidth = Math.max(...rows.map(([, time = ""]) => time.length));
  return [
    `call     ${call.callId}`,
    `target   ${call.target}`,
    `caller   ${call.principal}, through ${call.front}`,
    `started  ${call.startedAt}`,
    `outcome  ${call.code} after ${formatMs(durationMs)}`,
    "",
    ...rows.map(([name = "", time = "", drawn = ""]) =>
      `  ${name.padEnd(nameWidth)}  ${time.padStart(timeWidth)}  ${drawn}`.trimEnd(),
    ),
  ];
}

function bar(from: number, ms: number, whole: number, width: number): string {
  const scale = whole > 0 ? width / whole : 0;
  const start = Math.min(Math.round(from * scale), width - 1);
  const length = Math.max(1, Math.min(Math.round(ms * scale), width - start));
  return `${" ".repeat(start)}${"█".repeat(length)}`;
}

/** Whether a word means this call: its id, or the end of it, as the list shows it. */
export function isMeant(word: string, { callId }: CallReport): boolean {
  return callId === word || callId.endsWith(`-${word}`);
}

export function formatMs(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 100 ? `${Math.round(ms)} ms` : `${ms.toFixed(2)} ms`;
}
