import { print } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { shortPath } from "../output/short-path.ts";
import { wrap } from "../output/wrap.ts";
import type { Finding } from "./finding.ts";

const SIGNS = { ok: ["ok", "green"], warning: ["warning", "yellow"], problem: ["PROBLEM", "red"] } as const;
const SIGN_WIDTH = 9;

/** What was found, wrapped, and below it what to do. */
export function findingLines({ level, what, found, advice }: Finding, width: number): string[] {
  const [sign] = SIGNS[level];
  const margin = " ".repeat(SIGN_WIDTH);
  const [first = "", ...rest] = wrap(shortPath(`${what}: ${plainLine(found)}`), width - SIGN_WIDTH);
  const todo = advice === undefined ? [] : wrap(`-> ${advice}`, width - SIGN_WIDTH);
  return [`${sign.padEnd(SIGN_WIDTH)}${first}`, ...[...rest, ...todo].map((line) => margin + line)];
}

export function printFinding(finding: Finding, width: number): void {
  const [sign, style] = SIGNS[finding.level];
  const [first, ...rest] = findingLines(finding, width);
  print(first, { style, length: sign.length });
  for (const line of rest) print(line);
}

/** One sentence over everything. */
export function verdict(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]) => findings.filter((one) => one.level === level).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (problems > 0) return `${problems} of ${findings.length} checks found a problem.`;
  return warnings > 0
    ? `Nothing is broken; ${warnings} of ${findings.length} checks have a remark.`
    : "Everything is well.";
}
