import { describe, expect, test } from "vitest";
import { type Call, type CallEvent, GatewayError, jsonText, type Out, payload } from "../contract/index.ts";
import type { AccessDecision } from "../mechanisms/access/index.ts";
import { authorizeStage } from "./authorize-stage.ts";

const OUT = {} as Out;
const CALL = { id: "c", target: { provider: "files", kind: "tool", name: "read" } } as Call;

async function passed(decision: AccessDecision | undefined, isConcealed = true): Promise<Call | undefined> {
  let seen: Call | undefined;
  const stage = authorizeStage({ judge: () => decision, conceals: () => isConcealed });
  await stage(CALL, OUT, async (call) => {
    seen = call;
  });
  return seen;
}

const denied = (more: Partial<AccessDecision> = {}): AccessDecision => ({
  effect: "deny",
  source: "tool_grant",
  reason: "denied to ann",
  ...more,
});

describe("authorizeStage", () => {
  test("passes on a call that is allowed, as it is", async () => {
    expect(await passed(undefined)).toBe(CALL);
    expect(await passed({ effect: "allow", source: "binding", reason: "" })).toBe(CALL);
  });

  test("passes on a call that somebody must say yes to, with the decision", async () => {
    const decision = { effect: "confirm", source: "rule", reason: "", evidence: "operator" } as const;
    expect(await passed(decision)).toMatchObject({ id: "c", confirm: decision });
  });

  test("[AP-025] refuses what is denied as if it were not there, or says so where nothing is concealed", async () => {
    await expect(passed(denied())).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
    await expect(passed(denied(), false)).rejects.toMatchObject({
      code: "NOT_ALLOWED",
      details: { source: "tool_grant" },
    });
    await expect(passed(denied({ source: "rule", isShown: true }))).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  });

  test("names the scopes that a caller lacks, so that it can get them", async () => {
    const refusal = passed(denied({ source: "scope", missing: ["s:write"], isShown: true }));
    await expect(refusal).rejects.toMatchObject({ code: "NOT_ALLOWED", details: { scopes: ["s:write"] } });
  });

  test("hands on of what completes a URI only what the decision keeps, and nothing where that cannot be read", async () => {
    const decision: AccessDecision = { effect: "allow", source: "", reason: "", keeps: (value) => value === "a" };
    const answered = async (text: string) => {
      const heard: CallEvent[] = [];
      const out: Out = { write: (event) => heard.push(event) > 0, ready: async () => undefined };
      const stage = authorizeStage({ judge: () => decision, conceals: () => true });
      await stage(CALL, out, async (_call, seen) => {
        seen.write({ type: "end", outcome: "result", payload: payload(text) });
      });
      return heard.map((event) => event.type === "end" && event.payload.value());
    };
    const kept = { completion: { values: ["a"] }, x: 1 };
    expect(await answered('{"completion":{"values":["a","b"],"total":2,"hasMore":true},"x":1}')).toEqual([kept]);
    expect(await answered('{"completion":{"values":["a"],"total":1,"hasMore":false},"x":1}')).toEqual([kept]);
    const many = jsonText({ completion: { values: Array.from({ length: 101 }, () => "a") } });
    expect(await answered(many)).toEqual([{ completion: { values: Array.from({ length: 100 }, () => "a") } }]);
    const nothing = [{ completion: { values: [] } }];
    expect(await answered('{"completion":{"values":["b"],"values":["a"]}}')).toEqual(nothing);
    expect(await answered('{"completion":{"values":"b"}}')).toEqual(nothing);
    expect(await answered("{}")).toEqual(nothing);
  });

  test("rejects, and throws nothing, where it cannot be said", async () => {
    const judge = () => {
      throw new GatewayError("BAD_CALL");
    };
    const refusal = authorizeStage({ judge, conceals: () => true })(CALL, OUT, () => expect.unreachable());
    await expect(refusal).rejects.toMatchObject({ code: "BAD_CALL" });
  });
});
