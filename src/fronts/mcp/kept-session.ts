import type { KeptTask } from "../../mechanisms/runs/index.ts";
import type { RunningCall, Session } from "../../mechanisms/sessions/index.ts";

/** A session lives as long as its tasks: servers run them in a session that belongs to it. */
export function holdSession(session: Session, task: KeptTask): void {
  if (session.isEphemeral || task.isOver) return;
  const key = `task ${task.id}`;
  // The caller may come back for the task in another session.
  const hold: RunningCall = { run: undefined, abandon: () => undefined };
  const stop = task.watch(() => {
    if (task.isOver) session.dropRunning(key, hold);
  });
  if (stop) session.addRunning(key, hold);
}
