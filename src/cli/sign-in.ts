/** Servers that each user signs in to once, by a tool that stands for all of theirs until then. */

const TOOL = /^(?:.*(?:\.|__))?sign_in$/;
const WAITS = /^(?:It must be allowed first|Each of its users must allow it first)\b/;

/** Whether that is why a server has this status: somebody must sign in, and nothing is wrong with it. */
export function waitsForSignIn(status: string, message = ""): boolean {
  return status === "auth_required" && WAITS.test(message);
}

/** As clients see it, under whichever prefix. */
export function isSignInTool(name: string): boolean {
  return TOOL.test(name);
}
