/** What is run, per revision of MCP. Another revision or fixture is another entry. */

/** A check that cannot pass in one run, and why. It must still fail to pass, else the run fails. */
export type Exception = { readonly scenario: string; readonly check: string; readonly reason: string };

export type Fixture = {
  readonly name: string;
  readonly server: string;
  readonly stdio?: true;
  /**
   * For a fixture that the suite cannot use directly, because it is on stdio or of another revision: the fixture whose
   * direct run is the measure of the run through the gateway.
   */
  readonly like?: string;
  /** What is not as in the direct run. */
  readonly differences?: readonly Exception[];
};

export type Revision = {
  readonly revision: string;
  readonly fixtures: readonly Fixture[];
  /** Client scenarios that apply to the upstream leg; the others are scored in another revision. */
  readonly clientScenarios: readonly string[];
  /** Those about OAuth, which need a user who opens pages; of the extensions only those that the gateway has. */
  readonly authScenarios: readonly string[];
  /** What is not as in the direct run of them. */
  readonly clientDifferences?: readonly Exception[];
  /** Major version of the SDK whose client drives them. */
  readonly sdk: "v1" | "v2";
  /** Another, that drives them through the gateway as well: its revision is not the upstream's. */
  readonly otherSdk?: "v1" | "v2";
};

const server2025 = "tests/conformance/fixture-2025/server.ts";
const server2026 = "tests/conformance/fixture-2026/server.ts";

const noStreamToResume: Exception = {
  scenario: "server-sse-polling",
  check: "server-sse-disconnect-resume",
  reason: "the tool has no stream that it could close and the client resume, so the call is answered on the first one",
};

const noCallToAnswer: Exception = {
  scenario: "input-required-result-ignore-extra-params",
  check: "sep-2322-ignore-unexpected-params",
  reason: "answers without a state start a new call, because a 2025 server has no call that they could belong to",
};

/** What a server of 2025, where clients ask for tasks, cannot show of an extension in which the server decides. */
const otherTasks: readonly Exception[] = [
  {
    scenario: "tasks-lifecycle",
    check: "sep-2663-tasks-get-status-failed",
    reason: "the tool may be a task but need not, so the gateway calls it plainly, and the call fails without one",
  },
  {
    scenario: "tasks-required-task-error",
    check: "sep-2663-server-returns-missing-capability-when-required",
    reason: "the gateway asks the server for the task itself, and has the result for a client that knows no tasks",
  },
  {
    scenario: "tasks-required-task-error",
    check: "sep-2663-server-returns-missing-capability-data-shape",
    reason: "as the client gets the result, there is no error to look at",
  },
];

const AUTH_SINCE_2025 = [
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
];

const AUTH_SINCE_2026 = [
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
  "auth/authorization-server-migration",
  "auth/iss-supported",
  "auth/iss-not-advertised",
  "auth/iss-supported-missing",
  "auth/iss-wrong-issuer",
  "auth/iss-unexpected",
  "auth/iss-normalized",
  "auth/metadata-issuer-mismatch",
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
];

export const revisions: readonly Revision[] = [
  {
    revision: "2025-11-25",
    fixtures: [
      { name: "fixture-2025", server: server2025 },
      {
        name: "fixture-stdio",
        server: server2025,
        stdio: true,
        like: "fixture-2025",
        differences: [noStreamToResume],
      },
      { name: "fixture-2026", server: server2026, like: "fixture-2025", differences: [noStreamToResume] },
    ],
    clientScenarios: [
      "initialize",
      "tools_call",
      "elicitation-sep1034-client-defaults",
      "sse-retry",
      "json-schema-2020-12-preservation",
    ],
    authScenarios: AUTH_SINCE_2025,
    sdk: "v1",
  },
  {
    revision: "2026-07-28",
    fixtures: [
      { name: "fixture-2026", server: server2026 },
      { name: "fixture-2026-stdio", server: server2026, stdio: true, like: "fixture-2026" },
      {
        name: "fixture-2025",
        server: server2025,
        like: "fixture-2026",
        differences: [noCallToAnswer, ...otherTasks],
      },
      {
        name: "fixture-2025-stdio",
        server: server2025,
        stdio: true,
        like: "fixture-2026",
        differences: [noCallToAnswer, ...otherTasks],
      },
    ],
    clientScenarios: [
      "tools_call",
      "request-metadata",
      "http-standard-headers",
      "http-custom-headers",
      "http-invalid-tool-headers",
      "sep-2322-client-request-state",
      "json-schema-ref-no-deref",
      "json-schema-2020-12-preservation",
    ],
    authScenarios: [...AUTH_SINCE_2025, ...AUTH_SINCE_2026],
    clientDifferences: [
      {
        scenario: "request-metadata",
        check: "sep-2575-client-declares-elicitation-capability",
        reason: "the server offers nothing, so no request of the client reaches it, only the gateway's own",
      },
    ],
    sdk: "v2",
    otherSdk: "v1",
  },
];
