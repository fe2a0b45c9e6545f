/** Durations and sizes as a config writes them. In code they are always `…Ms` and `…Bytes`. */

const DURATION = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE = { B: 1, KB: 1_000, MB: 1_000_000, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const;

/** "500ms", "30s", "2m", "1.5h", "30d" in ms; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  return parseAmount(text, DURATION);
}

/** "512B", "64KB", "1MiB" in bytes; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  return parseAmount(text, SIZE);
}

function parseAmount(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?) ?([A-Za-z]+)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return factor === undefined ? undefined : Math.round(Number(amount) * factor);
}
