import { parseDurationMs } from "../../contract/index.ts";
import { ConfigError, type ObtainedConfig, obtainConfig } from "../../server/config/index.ts";
import { inspectPins } from "../../server/pin-file-of.ts";
import { foreignKeeper, inspectFiles } from "../../server/private-files.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { checkAccess, describeNames, describePatterns, describeUnprefixed } from "../doctor/check-access.ts";
import { checkApprovals, needsOthers } from "../doctor/check-approvals.ts";
import { checkCertificates } from "../doctor/check-certificates.ts";
import { checkClients } from "../doctor/check-clients.ts";
import { checkFiles, foreignState } from "../doctor/check-files.ts";
import { checkGateway } from "../doctor/check-gateway.ts";
import { describePins } from "../doctor/check-pins.ts";
import { checkState } from "../doctor/check-state.ts";
import { type Finding, ok, problem } from "../doctor/finding.ts";
import { printFinding, verdict } from "../doctor/report.ts";
import { besideRunning, type RunningServer, runningServers } from "../doctor/running-servers.ts";
import { describeTried, type TriedServer } from "../doctor/server-finding.ts";
import { tryServer } from "../doctor/try-server.ts";
import { describeRunning, foundElsewhere } from "../doctor/without-config.ts";
import { Ending } from "../ending.ts";
import { filesIn } from "../operator/find-listener.ts";
import { aboutGateway, otherConfig } from "../operator/other-config.ts";
import { outputWidth, printJson, printText } from "../output/console.ts";
import { guidePath } from "../output/guide-path.ts";
import { PROGRAM } from "../program-name.ts";
import { waitsForSignIn } from "../sign-in.ts";

export type DoctorOptions = { readonly config?: string; readonly timeout: string; readonly json?: boolean };

/** As `engines` of package.json has it. */
const OLDEST_NODE = "22.12";
/** How many servers are tried at once. */
const AT_ONCE = 4;

/** Looks at everything that can be wrong, and says what to do about it. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const timeoutMs = parseDurationMs(options.timeout);
  if (timeoutMs === undefined)
    throw new Ending("usage", [`--timeout: expected a duration such as 10s, found "${options.timeout}"`]);
  const findings: Finding[] = [];
  const tell = (...found: Finding[]) => {
    findings.push(...found);
    if (!options.json) for (const one of found) printFinding(one, outputWidth());
  };
  tell(checkNode(process.versions.node));
  const obtained = readConfig(options, tell);
  if (obtained) await checkConfigured(obtained, { ...options, timeoutMs, tell });
  if (options.json) printJson({ findings });
  else printText(`\n${verdict(findings)}\n`);
  if (findings.some(({ level }) => level === "problem")) throw new Ending("problems", []);
}

type Tell = (...found: Finding[]) => void;

export function checkNode(version: string): Finding {
  if (version.localeCompare(OLDEST_NODE, "en", { numeric: true }) >= 0) return ok("node", version);
  return problem("node", version, `install Node ${OLDEST_NODE} or newer`);
}

function readConfig({ config }: DoctorOptions, tell: Tell): ObtainedConfig | undefined {
  try {
    return obtainConfig(config === undefined ? {} : { config }, process.argv[1] ?? "");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    tell(...error.problems.map((text) => problem("config", text, adviceForConfig(text))));
    return undefined;
  }
}

function adviceForConfig(text: string): string {
  if (!/the environment variable .* is not set/.test(text))
    return `correct it; ${guidePath("reference/config.md")} says what is right`;
  return 'set it where the gateway is started, or in a file that -e FILE names, or write { fromFile = "path" } instead';
}

type Checking = { readonly timeoutMs: number; readonly tell: Tell; readonly config?: string };

async function checkConfigured(obtained: ObtainedConfig, { timeoutMs, tell, config: file }: Checking): Promise<void> {
  const { config, env, source, files } = obtained;
  const url = configuredUrl(config);
  const about = url ? await aboutGateway(url) : {};
  const other = otherConfig(about, source);
  if (url && other !== undefined && files.length === 0) {
    tell(foundElsewhere(url.origin, filesIn(about) ?? []), ...checkCertificates(env));
    tell(...(await checkGateway(config, undefined)), ...describeRunning(await runningServers(config)));
    return tell(...(await checkClients(env, url, false)));
  }
  tell(ok("config", files.join(", ") || "none; the built-in demo is used"));
  const keeper = foreignKeeper(config);
  tell(...checkCertificates(env));
  if (keeper === undefined) tell(...checkFiles(inspectFiles(config, source)), ...checkState(config));
  else tell(foreignState(config, keeper));
  tell(...(await checkGateway(config, other, file)), checkApprovals(config));
  const waiting = [...config.servers.entries()];
  const running: ReadonlyMap<string, RunningServer> = other === undefined ? await runningServers(config) : new Map();
  const found: Finding[] = [];
  const misnamed: TriedServer["misnamed"][number][] = [];
  let told = 0;
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, server] = next;
      const tried = await tryServer(config, server, { env, timeoutMs });
      const isWaiting = waitsForSignIn(tried.summary.status, tried.summary.message);
      found[index] = besideRunning(describeTried(tried), { server, running, isWaiting });
      misnamed.push(...tried.misnamed);
      // In the order of the config, however long each takes.
      for (let finding = found[told]; finding; finding = found[++told]) tell(finding);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  tell(...config.disabled.map((id) => ok(`servers.${id}`, `disabled; "${PROGRAM} enable ${id}" takes it in again`)));
  tell(...(await checkAccess(obtained, file, misnamed)), ...describeNames(misnamed), ...describePatterns(config));
  tell(...describeUnprefixed(config));
  if (keeper === undefined) tell(...describePins(inspectPins(config)));
  tell(...(await checkClients(env, url, needsOthers(config))));
}
