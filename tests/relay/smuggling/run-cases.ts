/** Sends every case one way and says where judgement and execution part. */
import { named, type SmugglingCase } from "./case.ts";
import type { Outcome, Way } from "./ways.ts";
import { type Execution, loggedTargets, type Witnesses } from "./witness.ts";

const SENTINEL = "files/sentinel";
const LOG_WAIT_MS = 5_000;

type Attempt = { readonly one: SmugglingCase; readonly outcome: Outcome; readonly rest: readonly string[] };

/** One line per case that went wrong. After each case a call of a known tool marks its end, at the server and in the log. */
export async function runCases(cases: readonly SmugglingCase[], way: Way, witnesses: Witnesses): Promise<string[]> {
  const { executed } = witnesses;
  const firstExecuted = executed.length;
  const firstLogged = loggedTargets(way.log()).length;
  const attempts: Attempt[] = [];
  for (const one of cases) {
    const bytes = Buffer.from(one.bytes.replaceAll("@", way.prefix), "latin1");
    const outcome = await way.send(bytes, one.expect !== "ignored");
    const rest = way.rest();
    const mark = await way.send(Buffer.from(named(`"${way.prefix}sentinel"`)), true);
    if (!mark.body.includes('"files"')) throw new Error(`after "${one.name}" ordinary calls fail: ${mark.body}`);
    attempts.push({ one, outcome, rest });
  }
  const logged = await logOf(way, firstLogged, cases.length);
  const executions = splitAt(executed.slice(firstExecuted), (execution) => execution.last === SENTINEL);
  const targets = splitAt(logged, (target) => target === SENTINEL);
  return attempts.flatMap((attempt, index) => {
    const problem = problemOf(attempt, way, executions[index] ?? [], targets[index] ?? []);
    return problem === undefined ? [] : [`${attempt.one.name}: ${problem}`];
  });
}

function problemOf(
  { one, outcome, rest }: Attempt,
  way: Way,
  executions: readonly Execution[],
  logged: readonly string[],
): string | undefined {
  const expected = way.inCatalog ? (one.inCatalog ?? one.expect) : one.expect;
  const said = `${outcome.status} ${outcome.body}`.slice(0, 200);
  if (rest.length > 0) return `more than one answer: ${rest.join(" ")}`;
  const differs = executions.some((execution, at) => Object.values(execution).some((target) => target !== logged[at]));
  if (differs || executions.length !== logged.length)
    return `executed ${JSON.stringify(executions)}, judged ${JSON.stringify(logged)}`;
  if (expected === "same")
    return executions.length === 1 ? undefined : `executed ${executions.length} times, answered ${said}`;
  if (executions.length > 0) return `executed ${executions[0]?.last}, answered ${said}`;
  const isRefused = one.status === undefined ? isRefusal(outcome) : outcome.status === one.status;
  if (expected === "refused" && !isRefused) return `not refused: ${said}`;
  return undefined;
}

/** An error with one of JSON-RPC's own codes and no result beside it. Over HTTP what is no message at all gets a 400. */
function isRefusal({ status, body }: Outcome): boolean {
  const isError = /"error":\{"code":(-32700|-3260[0-2]),"message":"[^"]/.test(body) && !body.includes('"result"');
  const isParse = body.includes('"code":-32700') || body.includes('"code":-32600');
  return isError && (status < 300 || (status === 400 && isParse));
}

async function logOf(way: Way, first: number, sentinels: number): Promise<string[]> {
  const deadline = performance.now() + LOG_WAIT_MS;
  for (;;) {
    const targets = loggedTargets(way.log()).slice(first);
    if (targets.filter((target) => target === SENTINEL).length >= sentinels) return targets;
    if (performance.now() > deadline) throw new Error("the log does not name every call");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function splitAt<T>(items: readonly T[], isEnd: (item: T) => boolean): T[][] {
  const parts: T[][] = [[]];
  for (const item of items) {
    if (isEnd(item)) parts.push([]);
    else parts.at(-1)?.push(item);
  }
  return parts;
}
