import type { Call, Target } from "./call.ts";
import { JsonFault } from "./json/scanner.ts";
import { copyText } from "./json/text.ts";

/** A call that was made, as it is kept beside what comes of it: whoever asks for that later is judged by it. */
export type MadeCall = {
  readonly target: Target;
  /** Its arguments, as they were written; "": it had none. Unset: they are not kept, and no rule that reads any can be judged. */
  readonly args?: string | undefined;
  /** Of a URI that nobody lists: the templates of its provider, as they are when somebody asks. */
  readonly templates?: readonly Target[] | undefined;
};

/** What somebody is judged by who comes back for a call: of words about a task by the call that has become it. */
export function madeCallOf({ target, input, task }: Pick<Call, "target" | "input" | "task">): MadeCall {
  return task ? { target: task.target, args: task.args } : { target, args: keptArguments({ input }) };
}

/** A caller has a thousand tasks, which are listed all at once. */
const MAX_KEPT = 16 * 1024;

/** What of a call's arguments is kept; undefined: they are too long, or two readers could read them differently. */
export function keptArguments({ input }: Pick<Call, "input">): string | undefined {
  try {
    const text = input.at(["arguments"]) ?? "";
    return text.length > MAX_KEPT ? undefined : copyText(text);
  } catch (error) {
    if (error instanceof JsonFault) return undefined;
    throw error;
  }
}
