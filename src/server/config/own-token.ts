/** What the verbs of the command line show to a gateway that asks who they are; undefined: nothing. */
export function ownToken(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env.ISTHMUS_TOKEN === "" ? undefined : env.ISTHMUS_TOKEN;
}
