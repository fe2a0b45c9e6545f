/** Waits until `look` finds something. */
export async function until<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: string,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`it never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A line of /metrics as a number; one that is not there counts as 0. */
export async function counter(origin: string, name: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length));
}
