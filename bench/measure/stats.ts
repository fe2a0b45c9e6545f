/** How rounds become figures and figures become verdicts. */

/** Two copies of the same program must agree this closely, or the run cannot tell candidates apart. */
export const CONTROL_LIMIT = 0.08;

export type Outcome = "PASS" | "FAIL" | "inconclusive";
export type Verdict = { outcome: Outcome; bar: string; figure: string; control: number | undefined };

/** Noise only ever adds, so the least of many rounds is nearest to the truth. */
export function least(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values);
}

/** How far apart a candidate and its twin are, as a share of the lesser. */
export function controlDifference(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined || Math.min(a, b) <= 0) return undefined;
  return Math.abs(a - b) / Math.min(a, b);
}

export function isSettled(control: number | undefined): boolean {
  return control !== undefined && control <= CONTROL_LIMIT;
}

export type Bar = {
  bar: string;
  /** The figure the bar is about; undefined when something it needs was not measured. */
  value: number | undefined;
  limit: number;
  /** With `atLeast`, more is better; otherwise less is. */
  atLeast?: boolean;
  /** `add` (the default) judges the figure made worse by the control's difference; `allow` widens the limit by it. */
  control: number | undefined;
  controlUse?: "add" | "allow";
  format: (value: number) => string;
};

export function judge(bar: Bar): Verdict {
  const { value, control } = bar;
  const figure = value === undefined ? "not measured" : bar.format(value);
  if (value === undefined || control === undefined || !isSettled(control)) {
    return { outcome: "inconclusive", bar: bar.bar, figure, control };
  }
  const isGood =
    bar.controlUse === "allow"
      ? value <= bar.limit + control
      : bar.atLeast === true
        ? value * (1 - control) >= bar.limit
        : value * (1 + control) <= bar.limit;
  return { outcome: isGood ? "PASS" : "FAIL", bar: bar.bar, figure, control };
}

export const asTimes = (value: number): string => `${value.toFixed(value < 0.1 ? 3 : 2)}x`;
export const asShare = (value: number): string => `${(value * 100).toFixed(1)} %`;
/** The share as the fraction bars speak of: 0.05 is 1/20. */
export const asFraction = (value: number): string => `1/${(1 / value).toFixed(1)}`;

export function divide(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b === 0 ? undefined : a / b;
}
