/** In a folder without a config, while a gateway runs that has one: what can be said of it from here. */
import { plainLine } from "../output/plain.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { RunningServer } from "./running-servers.ts";

/** `other`: the files of its config. */
export function foundElsewhere(origin: string, other: readonly string[]): Finding {
  const [file] = other;
  const look = other.length === 1 ? `"${PROGRAM} doctor --config ${file}"` : `"${PROGRAM} doctor" where it was started`;
  const found = `there is none here; the gateway at ${origin} runs with ${plainLine(other.join(", "))}`;
  return warning("config", found, `${plainLine(look)} looks at all of that`);
}

/** As the gateway says: without its config nobody here can start them. */
export function describeRunning(running: ReadonlyMap<string, RunningServer>): Finding[] {
  return [...running].map(([id, { status, message }]) => {
    const what = `servers.${plainLine(id)}`;
    if (status === "ok") return ok(what, "the running gateway reaches it");
    if (status === "starting" || status === "disabled") return ok(what, `${status} in the running gateway`);
    const why = message === "" ? "" : `, ${plainLine(message)}`;
    const advice = "doctor with the config of that gateway says what to do";
    return problem(what, `for the running gateway it is ${plainLine(status)}${why}`, advice);
  });
}
