/** Every way the program can end. Scripts rely on these numbers. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "Done, or stopped by a signal after draining." },
  failure: { code: 1, meaning: "The program failed, or a second signal cut the draining of the gateway short." },
  usage: { code: 2, meaning: "The command line cannot be understood." },
  config: { code: 3, meaning: "The config cannot be used. Each problem stands on its own line of standard error." },
  listen: { code: 4, meaning: "The address cannot be listened on." },
  toolError: { code: 5, meaning: "`call`: the tool answered, and its answer is an error." },
  callFailed: { code: 6, meaning: "`call`: there is no answer: no such tool, wrong arguments, server not reached." },
  unreachable: {
    code: 7,
    meaning: "No gateway answers where one was asked, or the one that does runs with another config.",
  },
  problems: { code: 8, meaning: "`doctor` found problems." },
  file: {
    code: 9,
    meaning: "A file cannot be read, understood or written, or is a key that others can get at; nothing was changed.",
  },
  store: { code: 10, meaning: "A store of the gateway cannot be opened or must not be used; nothing was changed." },
  altered: { code: 11, meaning: "`audit verify`: the audit trail is not what was written." },
  refused: {
    code: 12,
    meaning: "The gateway wants a token, does not accept the one in ISTHMUS_TOKEN, or does not let its bearer do this.",
  },
  interrupted: { code: 130, meaning: "Ctrl-C; a call that was running has been cancelled." },
} as const satisfies Record<string, { code: number; meaning: string }>;

export type ExitName = keyof typeof EXIT_CODES;
