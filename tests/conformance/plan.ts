/** Turns the table into runs: what to start, what to let the suite do with it, and what to compare the result with. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./processes.ts";
import { type Running, startFixture, startGateway } from "./servers.ts";
import { type Report, type Requirements, runClientScenario, runServerScenarios } from "./suite.ts";
import type { Exception, Fixture, Revision } from "./table.ts";

export type Run = {
  /** Unique in its revision. */
  readonly name: string;
  /** Scenarios that must have run. */
  readonly scenarios: readonly string[];
  readonly leg: "direct" | "through";
  /** The name of the direct run that this one must equal. */
  readonly like?: string;
  readonly differences?: readonly Exception[];
  /** Starts what it needs and ends it again; `folder` gets reports and logs. */
  execute(folder: string): Promise<Report>;
};

export function planRuns(revision: Revision, { serverScenarios }: Requirements): Run[] {
  const servers = revision.fixtures.flatMap((fixture) => planFixture(fixture, revision.revision));
  return [
    ...servers.map((run) => ({ ...run, scenarios: serverScenarios })),
    planClient(revision, "direct"),
    { ...planClient(revision, "through"), like: "client direct" },
  ];
}

function planFixture({ name, server, stdio }: Fixture, revision: string): Omit<Run, "scenarios">[] {
  const through = { name: `through ${name}`, leg: "through" } as const;
  if (stdio !== undefined) {
    const upstream = { command: process.execPath, args: [join(root, server), "--stdio"] };
    return [
      {
        ...through,
        like: `direct ${stdio.like}`,
        differences: stdio.onlyOverHttp,
        execute: (folder) =>
          withRunning(startGateway(upstream, folder), (url) => runServerScenarios(revision, url, folder)),
      },
    ];
  }
  return [
    {
      name: `direct ${name}`,
      leg: "direct",
      execute: (folder) =>
        withRunning(startFixture(server, folder), (url) => runServerScenarios(revision, url, folder)),
    },
    {
      ...through,
      like: `direct ${name}`,
      execute: (folder) =>
        withRunning(startFixture(server, folder), (upstream) =>
          withRunning(startGateway({ url: upstream }, folder), (url) => runServerScenarios(revision, url, folder)),
        ),
    },
  ];
}

function planClient({ revision, clientScenarios }: Revision, leg: "direct" | "through"): Run {
  const driver = fileURLToPath(new URL("client-driver.ts", import.meta.url));
  const command = `"${process.execPath}" "${driver}" --${leg}`;
  return {
    name: `client ${leg}`,
    leg,
    scenarios: clientScenarios,
    async execute(folder) {
      const report = new Map();
      // One after the other: one of them measures how long the client waits.
      for (const scenario of clientScenarios) {
        const checks = await runClientScenario(scenario, { revision, command, folder: join(folder, scenario) });
        report.set(scenario, checks);
      }
      return report;
    },
  };
}

async function withRunning(starting: Promise<Running>, use: (url: string) => Promise<Report>): Promise<Report> {
  const running = await starting;
  try {
    return await use(running.url);
  } finally {
    await running.close();
  }
}
