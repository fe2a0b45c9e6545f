/** What a gateway looks like from outside: its memory, its metrics, and what it complained about. */
import { readFileSync } from "node:fs";
import type { RunningGateway } from "../../e2e/kit/gateway.ts";

export const MIB = 1024 * 1024;

/** Memory that is in use now, in bytes. */
export function residentBytes(gateway: RunningGateway): number {
  const status = readFileSync(`/proc/${gateway.program.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The sum of a metric over its labels, or of the one with that label. */
export async function metric(gateway: RunningGateway, name: string, label?: string): Promise<number> {
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const wanted = label === undefined ? lines : lines.filter((line) => line.includes(`="${label}"`));
  return wanted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** Lines of the log that tell of a defect in the gateway itself. */
export function defects(gateway: RunningGateway): string[] {
  return gateway.program.stderr.split("\n").filter((line) => line !== "" && !/"level":"(debug|info|warn)"/.test(line));
}
