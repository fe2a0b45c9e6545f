/** Runs candidates in turn, round after round, until the figures can be trusted or the limit is reached. */

export type RoundOptions<T> = {
  names: readonly string[];
  atLeast: number;
  atMost: number;
  measure: (name: string, round: number) => Promise<T>;
  /** Asked after each round from `atLeast` on. */
  isSettled: (samples: ReadonlyMap<string, T[]>) => boolean;
  /** Who goes on being measured after `atLeast`: those the bars are about. */
  contenders: (samples: ReadonlyMap<string, T[]>) => readonly string[];
};
export type RoundResult<T> = { samples: Map<string, T[]>; errors: Map<string, string>; rounds: number };

export async function runRounds<T>(options: RoundOptions<T>): Promise<RoundResult<T>> {
  const samples = new Map<string, T[]>();
  const errors = new Map<string, string>();
  let rounds = 0;
  while (rounds < options.atMost) {
    const due = rounds < options.atLeast ? options.names : options.contenders(samples);
    // Every other round runs backwards, so that nobody always follows the same neighbour.
    for (const name of rounds % 2 === 0 ? due : [...due].reverse()) {
      if (errors.has(name)) continue;
      try {
        const sample = await options.measure(name, rounds);
        samples.set(name, [...(samples.get(name) ?? []), sample]);
      } catch (error) {
        errors.set(name, (error as Error).message);
      }
    }
    rounds++;
    if (rounds >= options.atLeast && options.isSettled(samples)) break;
  }
  // A candidate that gave one wrong answer has no figures.
  for (const name of errors.keys()) samples.delete(name);
  return { samples, errors, rounds };
}
