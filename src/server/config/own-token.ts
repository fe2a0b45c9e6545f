/** What the verbs of the command line show to a gateway that asks who they are; undefined: nothing. */
export function ownToken(env: NodeJS.ProcessEnv = process.env): string | undefined {
  // A file of Windows, and `echo`, leave a line end behind it.
  return env.ISTHMUS_TOKEN?.trim() || undefined;
}
