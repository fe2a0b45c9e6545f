/** What takes nothing of any limit, without end. */
import { afterAll, expect, test } from "vitest";
import { openSession, post } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${places.table}`;
const tokens = { eve: ["--user", "eve"], ann: ["--user", "ann"] };
const given = () => places.seen.split("resources/unsubscribe").length - 1;

describeAttacks("a caller", { config, tokens }, (field) => {
  test.each<[string, (at: number) => string, boolean]>([
    ["of what somebody else hears", () => "file:///pub/a", true],
    ["of ever other resources", (at) => `file:///pub/x${at}`, true],
    ["without a session", () => "file:///pub/a", false],
  ])("reaches no server by unsubscribing %s", async (_name, uriOf, hasSession) => {
    const url = `${field.origin()}/mcp`;
    const ann = { ...field.as("ann"), ...(await openSession(url, {}, field.as("ann"))) };
    await post(url, { id: 1, method: "resources/subscribe", params: { uri: "file:///pub/a" } }, ann);
    const eve = { ...field.as("eve"), ...(hasSession && (await openSession(url, {}, field.as("eve")))) };
    const before = given();
    for (let at = 0; at < 10; at++) {
      const message = { id: at + 2, method: "resources/unsubscribe", params: { uri: uriOf(at) } };
      await post(url, message, eve);
    }
    expect(given()).toBe(before);
    await post(url, { id: 20, method: "resources/unsubscribe", params: { uri: "file:///pub/a" } }, ann);
  });
});
