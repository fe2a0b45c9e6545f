/** Operators decide about calls whose clients may have gone: they are told what is so. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../kit/program.ts";
import { toolCall } from "../kit/rpc.ts";
import { ValveRig } from "./valve-rig.ts";

let rig: ValveRig;
let number = 0;
beforeAll(async () => {
  const more = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
  const tokens = { agent: "--user agent", operator: "--user op --role operator" };
  rig = await ValveRig.start({ gate: 'hold = "30s"\nevidence = "operator"', more, tokens });
});
afterAll(() => rig[Symbol.asyncDispose]());

const approve = (id: string) =>
  runProgram(["approve", id, "--yes", "--url", rig.url], { env: { ISTHMUS_TOKEN: rig.tokens.operator ?? "" } });

type Waiting = {
  readonly confirmation_id: string;
  readonly arguments_text: string;
  readonly confirm_url: string;
  readonly caller_connection?: string;
};

async function waitingFor(valve: string): Promise<Waiting | undefined> {
  const response = await fetch(new URL("/api/approvals?state=waiting", rig.url), rig.as("operator"));
  const { approvals } = (await response.json()) as { approvals: readonly Waiting[] };
  return approvals.find(({ arguments_text }) => arguments_text.includes(valve));
}

/** A client whose request is held until somebody decides. `begun`: the stream of its answer is. `leave`: closes its connection. */
async function held() {
  const valve = `valve ${++number}`;
  const connection = new AbortController();
  const response = fetch(new URL("/mcp", rig.url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...rig.as("agent").headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...toolCall(1, "plant.open", { valve }) }),
    signal: connection.signal,
  });
  const answer = response.then((one) => one.text()).catch(() => "");
  await expect.poll(() => waitingFor(valve)).toBeDefined();
  const id = (await waitingFor(valve))?.confirmation_id ?? "";
  return { id, name: valve, begun: response, leave: () => connection.abort(), answer };
}

const connectionOf = async (name: string) => (await waitingFor(name))?.caller_connection;

describe("a yes to a call", () => {
  test("whose client waits says that it was waiting, and is told nothing else before", async () => {
    const { id, name, answer } = await held();
    expect(await connectionOf(name)).toBe("open");
    const { stdout } = await approve(id);
    expect(stdout).toContain("Approved: the caller was waiting, and the call was made.");
    expect(stdout).not.toContain("closed");
    expect(await answer).toContain('"result"');
  });

  test("whose client has gone is told so before it is said, and after", async () => {
    const { id, name, begun, leave } = await held();
    await begun;
    leave();
    await expect.poll(() => connectionOf(name), { timeout: 10_000 }).toBe("closed");
    const page = await (await fetch((await waitingFor(name))?.confirm_url ?? "")).text();
    expect(page).toContain("nobody is there for the answer");
    const { stdout } = await approve(id);
    const [before = "", after = ""] = stdout.split("\n\n");
    expect(before).toContain("connection closed: nobody is there for the answer unless its client comes back.");
    expect(after).toContain("Approved: the call was made. Nobody was there for its answer");
    expect(stdout).not.toContain("was waiting");
    await expect.poll(() => rig.made().join()).toContain(name);
  });
});
