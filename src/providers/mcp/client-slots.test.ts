import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { LOCAL, type Principal } from "../../contract/index.ts";
import { openProvider, stdioConfig } from "./fixtures/setup.ts";

const caller = (id: string, user = id, tenant = "default") =>
  ({ id, identity: { ...LOCAL.identity, tenant, user, proof: "token" } }) as Principal;

async function rig(maxSessions: number) {
  const setup = await openProvider(stdioConfig({}, { sessions: "per-client", maxSessions }));
  let count = 0;
  return {
    /** Subscribes in a session of its own, which is in use from then on. "ok", or why it could not. */
    async subscribe(principal: Principal): Promise<string> {
      const session = fakeSession(`subscriber ${count++}`, { principal });
      const target = { provider: "fake", kind: "resource", name: "file:///a" } as const;
      const input = { uri: "file:///a" };
      const call = fakeCall({ method: "resources/subscribe", verb: "subscribe", target, input, principal, session });
      return setup.provider.run(call, new FakeOut()).then(
        () => "ok",
        (error: { code: string }) => error.code,
      );
    },
    /** Which process the session has. */
    async who(principal: Principal, session: string): Promise<string> {
      const out = new FakeOut();
      await setup.provider.run(toolCall("who", {}, { principal, session: fakeSession(session, { principal }) }), out);
      return (out.result as { content: [{ text: string }] }).content[0].text;
    },
    leave: (session: string, principal: Principal) =>
      setup.provider.release?.(fakeSession(session, { principal }), "ended"),
    [Symbol.asyncDispose]: () => setup[Symbol.asyncDispose](),
  };
}

describe("upstream sessions of clients", () => {
  test.each<[string, number, (number: number) => Principal]>([
    ["one caller", 2, () => caller("alice")],
    ["one user with many tokens", 2, (number) => caller(`token ${number}`, "alice")],
    ["one tenant with many users", 4, (number) => caller(`token ${number}`, `user ${number}`, "acme")],
  ])("are not all taken by %s", async (_whose, most, of) => {
    await using it = await rig(8);
    for (let number = 0; number < most; number++) expect(await it.subscribe(of(number))).toBe("ok");
    expect(await it.subscribe(of(most))).toBe("OVERLOADED");
    expect(await it.subscribe(caller("bob"))).toBe("ok");
  });

  test("make room among the caller's own idle ones, and nobody else's", async () => {
    await using it = await rig(4);
    const [alice, bob] = [caller("alice"), caller("bob")];
    const bobs = await it.who(bob, "bobs");
    for (let turn = 0; turn < 5; turn++) await it.who(alice, `alice ${turn}`);
    expect(await it.who(bob, "bobs")).toBe(bobs);
  });

  test("are the caller's to take again when they have ended", async () => {
    await using it = await rig(4);
    const alice = caller("alice");
    for (let turn = 0; turn < 3; turn++) {
      await it.who(alice, `one ${turn}`);
      it.leave(`one ${turn}`, alice);
    }
    expect(await it.subscribe(alice)).toBe("ok");
    expect(await it.subscribe(alice)).toBe("OVERLOADED");
  });
});
