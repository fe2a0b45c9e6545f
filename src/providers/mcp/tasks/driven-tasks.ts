/** The tasks of one upstream session that the gateway itself sees through. While there is one, the session stays. */
import { decodeString, type Payload } from "../../../contract/index.ts";
import { RELATED_TASK } from "../../../wire/mcp/index.ts";
import type { DrivenTask } from "./driven-task.ts";

export class DrivenTasks {
  readonly #byId = new Map<string, DrivenTask>();

  get size(): number {
    return this.#byId.size;
  }

  add(task: DrivenTask): void {
    this.#byId.set(task.id, task);
  }

  delete(task: DrivenTask): void {
    if (this.#byId.get(task.id) === task) this.#byId.delete(task.id);
  }

  values(): readonly DrivenTask[] {
    return [...this.#byId.values()];
  }

  /** By the server's own id. */
  find(id: string | undefined): DrivenTask | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The task that a message of the server says it belongs to. */
  related(body: Payload): DrivenTask | undefined {
    if (this.#byId.size === 0 || !body.text.includes(RELATED_TASK)) return undefined;
    return this.find(decodeString(body.at(["_meta", RELATED_TASK, "taskId"])));
  }

  /** The task of the call that we gave this progress token; it stays valid as long as the task. */
  ofToken(ours: string): DrivenTask | undefined {
    return this.values().find(({ running }) => running.id === ours);
  }
}

/** A body of the server without the task that it belongs to: the id is a key to it and must not leave the gateway. */
export function stripRelatedTask(body: Payload): Payload {
  if (!body.text.includes(RELATED_TASK)) return body;
  const stripped = body.splice(["_meta", RELATED_TASK]);
  return stripped.at(["_meta"]) === "{}" ? stripped.splice(["_meta"]) : stripped;
}
