/** Of which of its tasks a caller may hear here and now. */
import type { MadeCall, Principal } from "../../contract/index.ts";
import type { TaskFacts } from "../../mechanisms/runs/index.ts";
import type { FrontContext } from "./front-context.ts";

/** What a task is judged by. */
export type ToldTask = { readonly target?: MadeCall["target"] | undefined; readonly args?: MadeCall["args"] };

/**
 * Whether it could make the call that has become this task: with the token of this very request, at this endpoint, as things
 * are now. Of a task whose call nobody knows nobody hears.
 */
export function mayHear(
  { catalog: catalogs }: Pick<FrontContext, "catalog">,
  { catalog, principal }: { readonly catalog: string; readonly principal: Principal },
  { target, args }: ToldTask,
  asked?: "asked",
): boolean {
  return target !== undefined && catalogs.tells(catalog, principal, { target, args }, asked);
}

type Asking = {
  readonly principal: Principal;
  readonly address?: string | undefined;
  readonly message: { readonly method: string };
};

/** What came of it is handed out. */
export function noteRead(
  front: Pick<FrontContext, "resultRead">,
  asking: Asking,
  task: Pick<TaskFacts, "id" | "target" | "end">,
): void {
  if (task.end) noteToldOf(front, asking, task);
}

/** The same of a task that its provider runs. `isSuccess`: whether that has answered with a result. */
export function noteToldOf(
  { resultRead }: Pick<FrontContext, "resultRead">,
  { principal, address, message }: Asking,
  { id: taskId, target }: Pick<TaskFacts, "id" | "target">,
  isSuccess = true,
): void {
  const called = { server: target?.provider ?? "", name: target?.name ?? "" };
  const isFailure = isSuccess ? {} : ({ isFailure: true } as const);
  resultRead?.({ principal, method: message.method, target: called, of: { taskId }, address, ...isFailure });
}
