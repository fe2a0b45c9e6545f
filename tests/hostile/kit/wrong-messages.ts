/** JSON-RPC messages whose every part may be of another type than it should. */
import fc from "fast-check";

const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "resources/templates/list",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "tasks/result",
  "tasks/cancel",
  "tasks/list",
  "server/discover",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/initialized",
  "notifications/roots/list_changed",
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
  "__proto__",
  "constructor",
  "toString",
  "",
];

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, true, 0, -1, 1e308, "", "x", [], {}, "canary.echo", "canary.none", "__proto__"),
);
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: right as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: anything });

const meta = fc.record(
  { progressToken: anything, "io.modelcontextprotocol/related-task": mostly(fc.record({ taskId: anything })) },
  { requiredKeys: [] },
);
const params = fc.record(
  {
    name: mostly(fc.constantFrom("canary.echo", "canary.none", "echo")),
    arguments: mostly(fc.record({ text: anything })),
    uri: anything,
    cursor: anything,
    level: mostly(fc.constantFrom("debug", "error")),
    ref: mostly(
      fc.record(
        { type: mostly(fc.constantFrom("ref/prompt", "ref/resource")), name: anything, uri: anything },
        { requiredKeys: [] },
      ),
    ),
    argument: anything,
    taskId: anything,
    task: mostly(fc.record({ ttl: anything }, { requiredKeys: [] })),
    requestId: anything,
    progressToken: anything,
    progress: anything,
    reason: anything,
    protocolVersion: mostly(fc.constantFrom("2025-11-25", "2025-03-26", "2024-11-05", "2026-07-28")),
    capabilities: mostly(
      fc.record({ roots: anything, sampling: anything, elicitation: anything }, { requiredKeys: [] }),
    ),
    clientInfo: anything,
    _meta: mostly(meta),
  },
  { requiredKeys: [] },
);

/** As JSON text. */
export const wrongMessage: fc.Arbitrary<string> = fc
  .record(
    {
      jsonrpc: fc.oneof({ weight: 20, arbitrary: fc.constant("2.0" as unknown) }, { weight: 1, arbitrary: anything }),
      id: mostly(fc.oneof(fc.integer(), fc.string())),
      method: mostly(fc.constantFrom(...METHODS)),
      params: mostly(params),
      result: anything,
      error: anything,
    },
    { requiredKeys: ["jsonrpc"] },
  )
  // Left to chance alone, nearly every message would be refused for its answer beside its method.
  .map(({ result, error, ...rest }) => (rest.method === undefined ? { ...rest, result, error } : rest))
  .map((message) => JSON.stringify(message));
