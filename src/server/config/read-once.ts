/** For the schemas of a config, which are used once or twice: compiling one takes longer than walking it. */
export const READ_ONCE = { jitless: true } as const;
