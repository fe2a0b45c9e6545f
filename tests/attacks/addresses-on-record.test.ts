/** Secrets in addresses of resources, which those would find who look at what has happened: viewers, and whoever reads the log. */
import { afterAll, expect, test } from "vitest";
import { openSession, post } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";
import { sendModern } from "./kit/without-session.ts";

const places = new Places();
afterAll(() => places.remove());

const SECRET = "S3CRETVALUE9";
const rule = (match: string, effect: string) => `[[access.rules]]\nmatch = "places.${match}"\neffect = "${effect}"\n`;
const rules = ["ask", "deny"].flatMap((host) => {
  const effect = host === "ask" ? "confirm" : "deny";
  return [rule(`https://${host}.test/*`, effect), rule(`notes://${host}/*`, effect)];
});
const config = `[auth]
tokens = true
[audit]
[gate]
evidence = "operator"
hold = "100ms"
[access]
defaultPolicy = "opt-out"
${rules.join("")}${places.table}`;
const tokens = {
  op: ["--user", "op", "--role", "operator"],
  viewer: ["--user", "vic", "--role", "viewer"],
  bob: ["--user", "bob"],
};

const uris = ["ask", "deny", "ok"].flatMap((host) => [
  `https://${host}.test/x?token=${SECRET}`,
  `https://ann:${SECRET}@${host}.test/x`,
  `https://${host}.test/x#${SECRET}`,
  `notes://${host}/x?key=${SECRET}`,
]);

describeAttacks("a secret in the address of a resource", { config, tokens }, (field) => {
  test("is in no event, in no list of calls and not in the log, whatever becomes of the call", async () => {
    const life = new AbortController();
    let told = "";
    for (let at = 0; at < field.processes; at++) {
      const headers = field.as("viewer");
      const response = await fetch(`${field.origin(at)}/api/events`, { headers, signal: life.signal });
      void (async () => {
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) told += chunk;
      })().catch(() => undefined);
    }
    const session = { ...field.as("bob"), ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("bob"))) };
    for (const uri of uris) {
      await field.rpc({ id: 1, method: "resources/read", params: { uri } }, { as: "bob" });
      await post(`${field.origin(0)}/mcp`, { id: 2, method: "resources/subscribe", params: { uri } }, session);
      const modern = { url: `${field.origin()}/mcp`, headers: field.as("bob"), signal: AbortSignal.timeout(10_000) };
      await sendModern(modern, "resources/read", { uri }).then((response) => response.text());
    }
    type Approvals = { readonly approvals: readonly { readonly confirmation_id: string }[] };
    const waiting = (await field.api("GET", "/api/approvals", undefined, { as: "op" })).body as Approvals;
    for (const { confirmation_id: id } of waiting.approvals)
      await field.api("POST", `/api/approvals/${id}/deny`, {}, { as: "op" });

    type Kept = { readonly event_type: string; readonly target: { readonly tool_name: string } };
    const kept = async () => {
      const { body } = await field.api("GET", "/api/audit?limit=1000", undefined, { as: "viewer" });
      return (body as { readonly events: readonly Kept[] }).events;
    };
    const typesOf = async () => [...new Set((await kept()).map(({ event_type: type }) => type))];
    const wanted = ["TOOL_EXECUTED", "TOOL_BLOCKED", "dev.isthmus.approval.requested", "PERMISSION_DENIED"];
    await expect.poll(typesOf, { timeout: 15_000 }).toEqual(expect.arrayContaining(wanted));
    const shown = [JSON.stringify(await kept()), field.log()];
    for (let at = 0; at < field.processes; at++) {
      const { text } = await field.api("GET", "/api/calls", undefined, { as: "viewer", at });
      expect(text).toContain("places/https://ok.test/x");
      shown.push(text);
    }
    expect(told).toContain("https://deny.test/x");
    life.abort();
    for (const text of [...shown, told]) expect(text).not.toContain(SECRET);
  });
});
