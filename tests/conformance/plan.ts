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
  readonly differences?: readonly Exception[] | undefined;
  /** Starts what it needs and ends it again; `folder` gets reports and logs. */
  execute(folder: string): Promise<Report>;
};

type ServerRun = Omit<Run, "scenarios">;

export function planRuns(revision: Revision, { serverScenarios }: Requirements): Run[] {
  const servers = revision.fixtures.flatMap((fixture) => planFixture(fixture, revision.revision));
  return [
    ...servers.map((run) => ({ ...run, scenarios: serverScenarios })),
    planClient(revision, "direct", revision.sdk),
    {
      ...planClient(revision, "through", revision.sdk),
      like: "client direct",
      differences: revision.clientDifferences,
    },
    ...(revision.otherSdk === undefined
      ? []
      : [{ ...planClient(revision, "through", revision.otherSdk), name: `client ${revision.otherSdk} through` }]),
    planAuth(revision),
  ];
}

function planFixture({ name, server, stdio, like, differences }: Fixture, revision: string): ServerRun[] {
  const direct: ServerRun = {
    name: `direct ${name}`,
    leg: "direct",
    execute: (folder) => withRunning(startFixture(server, folder), (url) => runServerScenarios(revision, url, folder)),
  };

  async function runThrough(upstream: Parameters<typeof startGateway>[0], folder: string): Promise<Report> {
    return await withRunning(startGateway(upstream, folder), (url) => runServerScenarios(revision, url, folder));
  }

  const child = { command: process.execPath, args: [join(root, server), "--stdio"] };
  const through: ServerRun = {
    name: `through ${name}`,
    leg: "through",
    like: `direct ${like ?? name}`,
    differences,
    execute: (folder) =>
      stdio
        ? runThrough(child, folder)
        : withRunning(startFixture(server, folder), (url) => runThrough({ url }, folder)),
  };
  return like === undefined ? [direct, through] : [through];
}

function planClient({ revision, clientScenarios }: Revision, leg: "direct" | "through", sdk: string): Run {
  const command = commandFor("client-driver.ts", `--${leg} --sdk ${sdk}`);
  return { name: `client ${leg}`, leg, ...planScenarios(revision, clientScenarios, command) };
}

/** Only through the gateway: an SDK client leaves to its user what the gateway does here. */
function planAuth({ revision, authScenarios, sdk }: Revision): Run {
  const command = commandFor("auth-driver.ts", `--sdk ${sdk}`);
  return { name: "client auth through", leg: "through", ...planScenarios(revision, authScenarios, command) };
}

function commandFor(driver: string, flags: string): string {
  return `"${process.execPath}" "${fileURLToPath(new URL(driver, import.meta.url))}" ${flags}`;
}

function planScenarios(
  revision: string,
  scenarios: readonly string[],
  command: string,
): Pick<Run, "scenarios" | "execute"> {
  return {
    scenarios,
    async execute(folder) {
      const report = new Map();
      // One after the other: one of them measures how long the client waits.
      for (const scenario of scenarios) {
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
