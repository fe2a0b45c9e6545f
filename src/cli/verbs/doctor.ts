import { parseDurationMs } from "../../contract/index.ts";
import { ConfigError, type ObtainedConfig, obtainConfig } from "../../server/config/index.ts";
import { inspectPins } from "../../server/pin-file-of.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { checkClients } from "../doctor/check-clients.ts";
import { checkGateway } from "../doctor/check-gateway.ts";
import { describePins } from "../doctor/check-pins.ts";
import { type Finding, ok, problem } from "../doctor/finding.ts";
import { findingLines, verdict } from "../doctor/report.ts";
import { describeTried } from "../doctor/server-finding.ts";
import { tryServer } from "../doctor/try-server.ts";
import { Ending } from "../ending.ts";
import { outputWidth, print, printJson } from "../output/console.ts";

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
    if (!options.json) for (const line of found.flatMap((one) => findingLines(one, outputWidth()))) print(line);
  };
  tell(checkNode(process.versions.node));
  const obtained = readConfig(options, tell);
  if (obtained) await checkConfigured(obtained, timeoutMs, tell);
  if (options.json) printJson({ findings });
  else print(`\n${verdict(findings)}`);
  if (findings.some(({ level }) => level === "problem")) throw new Ending("problems", []);
}

type Tell = (...found: Finding[]) => void;

export function checkNode(version: string): Finding {
  if (version.localeCompare(OLDEST_NODE, "en", { numeric: true }) >= 0) return ok("node", version);
  return problem("node", version, `install Node ${OLDEST_NODE} or newer`);
}

function readConfig({ config }: DoctorOptions, tell: Tell): ObtainedConfig | undefined {
  try {
    const obtained = obtainConfig(config === undefined ? {} : { config }, process.argv[1] ?? "");
    tell(ok("config", obtained.files.join(", ") || "none; the built-in demo is used"));
    return obtained;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    tell(...error.problems.map((text) => problem("config", text, adviceForConfig(text))));
    return undefined;
  }
}

function adviceForConfig(text: string): string {
  if (!/the environment variable .* is not set/.test(text))
    return "correct it; docs/reference/config.md says what is right";
  return 'set it where the gateway is started, or write { fromFile = "path" } instead';
}

async function checkConfigured({ config, env }: ObtainedConfig, timeoutMs: number, tell: Tell): Promise<void> {
  tell(...(await checkGateway(config)));
  const waiting = [...config.servers.entries()];
  const found: Finding[] = [];
  let told = 0;
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, server] = next;
      found[index] = describeTried(await tryServer(config, server, { env, timeoutMs }));
      // In the order of the config, however long each takes.
      for (let finding = found[told]; finding; finding = found[++told]) tell(finding);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  tell(...describePins(inspectPins(config)), ...checkClients(env, configuredUrl(config)));
}
