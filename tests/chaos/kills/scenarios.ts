import { journal, keyed, resume, upstream } from "./call-stories.ts";
import { drain, home, start, stop } from "./process-stories.ts";
import { deletion, line, outbox, session, takeover, wishes } from "./session-stories.ts";
import type { Scenario } from "./story.ts";
import { lostTask, modernTask, relayedTask, task } from "./task-stories.ts";

const LIST = {
  ...{ session, wishes, deletion, takeover, outbox, line },
  ...{ keyed, journal, resume, upstream },
  ...{ task, modernTask, relayedTask, lostTask },
  ...{ start, stop, drain, home },
};

export type ScenarioName = keyof typeof LIST;

export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = LIST;
