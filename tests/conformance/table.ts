/** What is run, per revision of MCP. Another revision or fixture is another entry. */

/** A check that cannot pass in one run, and why. It must still fail to pass, else the run fails. */
export type Exception = { readonly scenario: string; readonly check: string; readonly reason: string };

export type Fixture = {
  readonly name: string;
  readonly server: string;
  /** Behind the gateway on stdio. The suite itself speaks only HTTP, so the direct run of `like` is the measure. */
  readonly stdio?: { readonly like: string; readonly onlyOverHttp: readonly Exception[] };
};

export type Revision = {
  readonly revision: string;
  readonly fixtures: readonly Fixture[];
  /** Client scenarios that apply to the upstream leg; the others are about OAuth, or scored in another revision. */
  readonly clientScenarios: readonly string[];
};

const server2025 = "tests/conformance/fixture-2025/server.ts";

export const revisions: readonly Revision[] = [
  {
    revision: "2025-11-25",
    fixtures: [
      { name: "fixture-2025", server: server2025 },
      {
        name: "fixture-stdio",
        server: server2025,
        stdio: {
          like: "fixture-2025",
          onlyOverHttp: [
            {
              scenario: "server-sse-polling",
              check: "server-sse-disconnect-resume",
              reason: "on stdio the tool has no stream of its own to close, so the call is answered on the first one",
            },
          ],
        },
      },
    ],
    clientScenarios: [
      "initialize",
      "tools_call",
      "elicitation-sep1034-client-defaults",
      "sse-retry",
      "json-schema-2020-12-preservation",
    ],
  },
];
