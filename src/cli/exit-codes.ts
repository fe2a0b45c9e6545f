/** Every way the program can end. Scripts rely on these numbers. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "Done, or stopped by a signal after draining." },
  failure: { code: 1, meaning: "The gateway failed, or a second signal cut its draining short." },
  usage: { code: 2, meaning: "The command line cannot be understood." },
  config: { code: 3, meaning: "The config cannot be used. Each problem stands on its own line of standard error." },
  listen: { code: 4, meaning: "The address cannot be listened on." },
} as const satisfies Record<string, { code: number; meaning: string }>;

export type ExitName = keyof typeof EXIT_CODES;
