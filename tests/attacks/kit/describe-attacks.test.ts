import { expect, test } from "vitest";
import { helloServer } from "../../e2e/kit/gateway.ts";
import { toolCall } from "../../e2e/kit/rpc.ts";
import { describeAttacks } from "./describe-attacks.ts";

const config = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`;

describeAttacks(
  "a field",
  { config, tokens: { ann: ["--user", "ann"], root: ["--user", "root", "--role", "admin"] } },
  (field) => {
    test("serves those it has made tokens for in every process, and nobody else", async () => {
      const call = toolCall(1, "hello.greet", { name: "Ada" });
      for (let at = 0; at < field.processes; at++) {
        expect(JSON.stringify((await field.rpc(call, { as: "ann", at })).messages)).toContain("Hello, Ada!");
        expect((await field.rpc(call, { at })).status).toBe(401);
      }
    });

    test("is another process at each turn", () => {
      expect(new Set([field.origin(), field.origin(), field.origin()]).size).toBe(field.processes);
    });

    test("lets operators in, and verbs that have their token", async () => {
      expect((await field.api("GET", "/api/servers", undefined, { as: "root" })).status).toBe(200);
      const { code, stdout } = await field.run(["list"], { ISTHMUS_TOKEN: field.token("ann") });
      expect([code, stdout]).toEqual([0, expect.stringContaining("hello")]);
    });
  },
);
