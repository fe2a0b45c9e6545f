/** Runs every client against every server: through one gateway per server, and directly where both speak one revision. */
import { startGateway } from "../e2e/kit/gateway.ts";
import { run } from "./processes.ts";
import { CLIENTS, type Client, FEATURES, SERVERS, type Server } from "./sides.ts";

export type Finding = { readonly feature: string; readonly outcome: "ok" | "n/a" | "fail"; readonly detail: string };

export type Run = {
  readonly way: "direct" | "through";
  readonly client: string;
  readonly server: string;
  readonly findings: readonly Finding[];
};

const AT_ONCE = 2;
const RUN_MS = 60_000;

export type Pair = Omit<Run, "findings">;

/** Direct first: they show that drivers and servers are right. */
export const PAIRS: readonly Pair[] = (["direct", "through"] as const).flatMap((way) =>
  SERVERS.flatMap((server) =>
    CLIENTS.filter((client) => way === "through" || client.revision === server.revision).map((client) => ({
      way,
      client: client.id,
      server: server.id,
    })),
  ),
);

export async function runMatrix(): Promise<Run[]> {
  const behind = await Promise.all(SERVERS.map(startBoth));
  try {
    const runs: Run[] = [];
    const left = [...PAIRS];
    const work = async () => {
      for (let pair = left.shift(); pair; pair = left.shift()) {
        const at = SERVERS.findIndex(({ id }) => id === pair.server);
        runs.push({ ...pair, findings: await drive(pair, behind[at]?.[pair.way] ?? "") });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return runs;
  } finally {
    await Promise.all(behind.map(({ stop }) => stop()));
  }
}

async function startBoth(server: Server) {
  const { url, stop } = await server.start();
  try {
    const gateway = await startGateway({ config: `[[servers]]\nid = "behind"\nurl = "${url}"\nprefix = ""\n` });
    return { direct: url, through: gateway.url, stop: async () => void (await Promise.all([gateway.stop(), stop()])) };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function drive(pair: Pair, url: string): Promise<Finding[]> {
  const client = CLIENTS.find(({ id }) => id === pair.client) as Client;
  const server = SERVERS.find(({ id }) => id === pair.server) as Server;
  const args = ["--url", url, "--names", server.names, "--features", FEATURES.join(",")];
  const { stdout, stderr } = await run([...(await client.command()), ...args], RUN_MS);
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const findings = lines.map((line) => JSON.parse(line) as Finding);
  return FEATURES.map(
    (feature) =>
      findings.find((finding) => finding.feature === feature) ??
      ({ feature, outcome: "fail", detail: `the driver said nothing: ${stderr.slice(-500)}` } as const),
  );
}
