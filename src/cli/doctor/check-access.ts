/** Callers who are asked who they are, and to whom nobody has granted anything; rules about names of nothing. */
import { statSync } from "node:fs";
import { type Config, isAuthOn, type ObtainedConfig } from "../../server/config/index.ts";
import type { Gateway } from "../../server/gateway-types.ts";
import { declaredPolicy, misspelledIn } from "../../server/governance/access.ts";
import { unprefixedNames, unprefixedServer } from "../../server/governance/dotted-name.ts";
import { grantsNothing } from "../../server/governance/nothing-granted.ts";
import { operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { objectOf } from "../json.ts";
import { grantAdvice, NOTHING_GRANTED } from "../output/grant-advice.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

type Misnamed = ReturnType<Gateway["misnamed"]>;

export async function checkAccess(
  { config }: ObtainedConfig,
  file: string | undefined,
  misnamed: Misnamed,
): Promise<Finding[]> {
  if (!isAuthOn(config.auth)) return [];
  const known = { now: Date.now(), misnamed };
  if (!grantsNothing(config, declaredPolicy(config), known)) return [ok("access", openingWords(config, known))];
  const advice = grantAdvice({ server: config.servers[0]?.id });
  const { database } = config.state;
  // To look must not make a database.
  const found = database.kind === "sqlite" && isMissing(database.file) ? true : await askGrantsNothing(file);
  if (found === "asks nobody") {
    const running = "the gateway that runs serves an older one, and does not ask callers who they are yet";
    return [warning("access", `the config grants nothing to anybody; ${running}`, advice)];
  }
  if (found === false) return [ok("access", "callers were granted something while the gateway ran")];
  if (found === true) return [problem("access", `nobody may use anything: ${NOTHING_GRANTED}`, advice)];
  const unseen =
    "what was granted while the gateway runs cannot be looked at: that takes its user, or a token in ISTHMUS_TOKEN";
  return [warning("access", `the config grants nothing to anybody; ${unseen}`, advice)];
}

/** Why callers may use anything: a policy that lets them is no grant. */
function openingWords(config: Config, known: { readonly now: number; readonly misnamed: Misnamed }): string {
  const policy = declaredPolicy(config);
  const strict = [{ tenant: "*", server: "*", policy: "opt-in" as const }];
  if (!grantsNothing(config, { ...policy, defaults: strict }, known)) return "callers were granted something";
  const open = policy.defaults.flatMap((one) => (one.policy === "opt-out" ? [one.server] : []));
  const who = open.length > 0 ? "whoever is known" : "the local user";
  const what = open.length === 0 || open.includes("*") ? "everything" : `everything of ${open.join(", ")}`;
  return `${who} may use ${what} but what was denied (opt-out)`;
}

/** What somebody else's folder hides may be there. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** What is said in the config about a name that nothing has. */
export function describeNames(misnamed: Misnamed): Finding[] {
  return misnamed.map(({ name, server, meant }) => {
    const about = `what is said about "${name}"${server === undefined ? "" : ` of ${server}`} is about nothing`;
    if (meant.length === 0)
      return warning("access", `${about}: no list has it now`, `correct it; "${PROGRAM} list" shows what there is`);
    const instead = meant.map((one) => `"${one}"`).join(" or ");
    return warning("access", `${about}: only lists call it so`, `write ${instead} instead`);
  });
}

/** Patterns in the config that fit no URI, or no path, as these are judged. */
export function describePatterns(config: Config): Finding[] {
  return misspelledIn(config).map(({ written, reason, meant }) => {
    const instead = meant === undefined ? "as URIs and paths are judged" : `"${meant}" instead`;
    return warning("access", `the pattern "${written}" fits nothing: ${reason}`, `write ${instead}`);
  });
}

/** How names of a server without a prefix are written where somebody may have said something about them. */
export function describeUnprefixed(config: Config): Finding[] {
  const server = unprefixedServer(config);
  if (!server || (!isAuthOn(config.auth) && !says(config))) return [];
  return [ok(`servers.${server.id}`, `has no prefix: in rules, bindings and limits ${unprefixedNames(server)}`)];
}

function says({ access, limits }: Config): boolean {
  const { bindings, scopes, rules } = access;
  return [bindings, scopes, rules, limits].some((all) => all.length > 0);
}

/** Of the stores, or of the gateway that has them, which may have another config; undefined: they do not let us. */
async function askGrantsNothing(file: string | undefined): Promise<boolean | "asks nobody" | undefined> {
  const order = { id: "about.get", method: "GET", path: "/api/about", input: {} };
  try {
    const about = objectOf(await operate(order, file === undefined ? {} : { config: file }));
    if (about.knowsCallers === false) return "asks nobody";
    const { grantsNothing: found } = about;
    return typeof found === "boolean" ? found : undefined;
  } catch (error) {
    if (error instanceof Ending) return undefined;
    throw error;
  }
}
