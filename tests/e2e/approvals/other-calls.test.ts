/** A yes that was given, and calls that are not the one it was given for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { held, trailOf, undecided } from "./traces.ts";
import { gateOf, ValveRig } from "./valve-rig.ts";

describe("a yes for one call is none for another", () => {
  test.each([
    ["a number in another spelling", '{"percent":75.0}'],
    ["a number with an exponent", '{"percent":7.5e1}'],
    ["a number as text", '{"percent":"75"}'],
    ["one more member", '{"percent":75,"force":true}'],
  ])("with %s", async (_what, other) => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", { percent: 75 }));
    await own.confirm(gate);
    const send = async () => {
      const response = await fetch(own.url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plant.open","arguments":${other}}}`,
      });
      return await response.text();
    };
    const text = await trailOf(() => own).attack(send, held());
    expect(text).toContain("confirmation_required");
    expect(text).not.toContain(gate.confirmation_id);
    expect(own.made()).toEqual([]);
  });

  test("of another tool with the same arguments", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const args = { valve: "v-1" };
    await own.confirm(gateOf(await own.call("plant.open", args)));
    await trailOf(() => own).attack(
      () => own.call("plant.close", args),
      (answer) => held(gateOf(answer), "close"),
    );
    expect(own.made()).toEqual([]);
  });
});

describe("of what races, one wins", () => {
  test("two that approve: the call is made once", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "20s"' });
    const calls = [own.call("plant.open", {}), own.call("plant.open", {})];
    const [gate] = await eventually(
      () => own.waiting(),
      (found) => found.length > 0,
    );
    if (!gate) throw new Error("nothing waits");
    const race = () => Promise.all([own.confirm(gate), own.confirm(gate), own.confirm(gate, "deny")]);
    const answers = await trailOf(() => own).attack(race, (said) => {
      const lost = said.find(({ error }) => error !== undefined);
      return undecided(String((lost?.error?.data as { reason?: string } | undefined)?.reason), gate);
    });
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1);
    await Promise.all(calls);
    expect(own.made().length).toBeLessThanOrEqual(1);
  });

  test("many repeats of what was approved: one is made", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    await own.confirm(gateOf(await own.call("plant.open", {})));
    await Promise.all(Array.from({ length: 10 }, () => own.call("plant.open", {})));
    expect(own.made()).toHaveLength(1);
  });

  test("repeats under one idempotency key: one is made, and each gets its answer", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const headers = { "idempotency-key": "k" };
    const gate = gateOf(await own.call("plant.open", {}, { headers }));
    await own.confirm(gate);
    const first = await own.call("plant.open", {}, { headers });
    const second = await own.call("plant.open", {}, { headers });
    expect([first, second].map(({ result }) => result?.content)).toEqual([
      [{ type: "text", text: "did open" }],
      [{ type: "text", text: "did open" }],
    ]);
    expect(own.made()).toHaveLength(1);
  });
});

describe("what was approved is worth nothing", () => {
  test("when the gate has changed since", async () => {
    await using own = await ValveRig.start({ gate: 'hold = "50ms"' });
    const gate = gateOf(await own.call("plant.open", {}));
    await own.confirm(gate);
    const config = own.config().replace('hold = "50ms"', 'hold = "50ms"\nmode = "strict"');
    writeFileSync(join(own.gateway.program.folder, "isthmus.toml"), config);
    await eventually(
      () => own.call("plant.mark", {}),
      ({ result }) => result?.isError === true,
    );
    const answer = await trailOf(() => own).attack(
      () => own.call("plant.open", {}),
      (said) => held(gateOf(said)),
    );
    expect(gateOf(answer).confirmation_id).not.toBe(gate.confirmation_id);
    expect(own.made().filter((line) => line.includes('"open"'))).toEqual([]);
  });
});

describe("in strict mode", () => {
  test("[AX-185] tools that say nothing wait as well, and so do methods that nobody knows", async () => {
    await using own = await ValveRig.start({ gate: 'mode = "strict"\nhold = "50ms"' });
    const watch = trailOf(() => own);
    const marked = await watch.attack(() => own.call("plant.mark", {}), held(undefined, "mark", "undeclared"));
    expect(gateOf(marked).reason).toBe("undeclared");
    const force = () => own.rpc({ id: 1, method: "valve/force", params: {} });
    const forced = await watch.attack(force, held(undefined, "valve/force", "undeclared"));
    expect(forced.error?.message).toContain("confirmation_required");
    expect((await own.call("plant.look", {})).result).toMatchObject({ content: [{ text: "did look" }] });
    expect(own.made().filter((line) => !line.includes('"look"'))).toEqual([]);
  });
});

test.each([
  ["of one piece", { server: 'prefix = ""' }, "open", { tool: "open" }],
  [
    "without dots",
    { gateway: 'naming = "underscore"' },
    "plant__open",
    { tool: "plant.open", called_as: "plant__open" },
  ],
])("names %s lead to the same gate", async (_what, options, name, shown) => {
  await using own = await ValveRig.start({ gate: 'hold = "50ms"', ...options });
  const answer = await trailOf(() => own).attack(
    () => own.call(name, {}),
    (said) => held(gateOf(said)),
  );
  expect(gateOf(answer)).toMatchObject(shown);
  expect(own.made()).toEqual([]);
});

test("in open mode tools are flagged, and nothing waits", async () => {
  await using own = await ValveRig.start({ gate: 'mode = "open"' });
  expect((await own.call("plant.open", {})).result).toMatchObject({ content: [{ text: "did open" }] });
  const { result } = await own.rpc({ id: 1, method: "tools/list" });
  expect(JSON.stringify(result)).toContain('"x-mcpax-safety":"irreversible_mutable"');
  expect(JSON.stringify(result)).not.toContain("x-mcpax-gated");
});
