import type { Row } from "./row.ts";

const MODERN = "src/fronts/mcp/modern/tasks.test.ts";
const LEGACY = "src/fronts/mcp/tasks.test.ts";
const UP_2025 = "src/providers/mcp/tasks/legacy-task.test.ts";
const UP_2026 = "src/providers/mcp/tasks/modern-task.test.ts";

/** Tasks are an extension, and the server decides. */
export const tasksOf2026: readonly Row[] = [
  {
    what: "A task that nobody knows, that is another caller's, or whose time is over",
    gets: "200, -32602, `There is no such task, or its time is over`",
    why: "the id alone is no right to the task, and one text tells nothing of others'",
    test: [MODERN, "of somebody else does not exist for %s"],
  },
  {
    what: "`tasks/cancel` of a task that is over",
    gets: "200, the same acknowledgement as for any other; nothing happens",
    why: "this revision wants it so, though servers of 2025 answer with an error",
    test: [MODERN, "is acknowledged, also when the task is over; what is cancelled stays so"],
  },
  {
    what: "`tasks/update` with answers to what is not asked",
    gets: "200, the acknowledgement; only answers that are no objects get -32602",
    why: "a question may have been taken back meanwhile",
    test: [MODERN, "answers one question after the other; keys that nobody asks for are not looked at"],
  },
  {
    what: "A tool of 2025 that runs only as a task, for a client without the extension",
    gets: "the plain result; the gateway has the task made, and waits for it as long as the call may take",
    why: "the client could not ask about a task",
    test: [UP_2025, "lives no longer than the call where the client knows no tasks, and only its result is heard of"],
  },
  {
    what: "A tool of 2025 that may be a task, but need not",
    gets: "a plain call",
    why: "in 2025 it is the client that wants a task, and clients of 2026 cannot say so",
    test: [UP_2025, "leaves calls of other tools as they are"],
  },
  {
    what: "A task of 2025 that has failed",
    gets: "`completed` if there is a result, which then has `isError`; `failed` if there is an error",
    why: "2026 calls only those failed that have no result",
    test: [UP_2025, "ends with the result of a task that failed with one, and with the error of one that did not"],
  },
  {
    what: "A task that asks what the client has not declared",
    gets: "the task `failed` with -32021, if the server cannot do without",
    why: "as in a call",
    test: [UP_2025, "refuses what the client has not declared, and says so when the task fails of it"],
  },
  {
    what: "A task that a server of 2026 makes though the client did not declare the extension",
    gets: "the family's error with PROVIDER_FAILED",
    why: "the server must not, and the client would not understand it",
    test: [UP_2026, "is an error to callers of %s that did not ask for it"],
  },
  {
    what: "A task over the 1000 that a caller may have, all of which still run",
    gets: "the call stays a call, and is answered when it ends",
    why: "tasks cost memory; those that run are not given up for new ones",
    test: [MODERN, "stays a call where there is no room for another task"],
  },
];

/** Tasks are part of 2025-11-25, and the client decides. */
export const tasksOf2025: readonly Row[] = [
  {
    what: "A task is wanted, and a server of 2026 answers at once",
    gets: "a task of the gateway's own, which has ended",
    why: "the client has asked for a task, and must get one",
    test: [LEGACY, "has a task also when the call ends at once"],
  },
  {
    what: "A task is wanted of a tool that can be none",
    gets: "what the server says to it",
    why: "the server may know more than it lists",
    test: [LEGACY, "is relayed as it came where the server has tasks of its own, and where nobody has any"],
  },
  {
    what: "A `task` that is no object, or has a `ttl` that is no time",
    gets: "200, -32602",
    why: "it is looked at before the call is made",
    test: [LEGACY, "that is %j is refused"],
  },
  {
    what: "A task of 2026 that completed with `isError`",
    gets: "`failed`; `tasks/result` gives the result",
    why: "2025 calls that failed",
    test: [LEGACY, "is %s when its call ends so"],
  },
  {
    what: "`tasks/cancel` of a task that is over, `tasks/result` of one that was cancelled",
    gets: "200, -32602",
    why: "2025 wants it so, though servers of 2026 acknowledge it",
    test: [LEGACY, "is cancelled once; after that, or when it is over, that is an error"],
  },
  {
    what: "A task that nobody knows, or that is another caller's",
    gets: "200, -32602",
    why: "the id alone is no right to the task",
    test: [LEGACY, "of somebody else does not exist for %s"],
  },
  {
    what: "A task over the 1000 that a caller may have, all of which still run",
    gets: "200, -32603, `data.code` is OVERLOADED; the call is not made",
    why: "the client has asked for a task, and there is no room for one",
    test: [LEGACY, "is refused when the caller has as many tasks as it may"],
  },
];
