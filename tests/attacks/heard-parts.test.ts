/** Somebody who hears of a whole, and of whose parts some are denied to them: their names are not to be heard. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSession, toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./parts/templates-server.mjs", import.meta.url));
const TEMPLATES = ["file:///{+path}", "file:///dir/secret/{name}"];
const RESOURCES = ["file:///dir", "file:///dir/pub.txt", "file:///dir/private/merger.txt"];

function server(id: string): string {
  const args = JSON.stringify([SERVER, JSON.stringify(TEMPLATES), JSON.stringify(RESOURCES)]);
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
}

const denied = (primitive: string) => `[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "${primitive}"
allowed = false
`;

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${["one", "two"].map((id) => denied(`${id}.file:///dir/private/*`) + denied(`${id}.file:///dir/secret/{name}`)).join("")}
${server("one")}${server("two")}`;

const tokens = { ann: ["--user", "ann"], bob: ["--user", "bob"] };

const PARTS = [
  "file:///dir/private/merger.txt",
  "file:///dir/private/unlisted-merger.txt",
  "file:///dir/private./merger.txt",
  "file:///dir/private%20/merger.txt",
  "file:///dir/priv%61te/merger.txt",
  "file:///dir/pub/../private/merger.txt",
  "file:///dir/private/merger.txt#part",
  "file:///dir/secret/merger.txt",
  "file:///dir/secret/merger.txt/",
];

describeAttacks("whoever hears of a whole", { config, tokens }, (field) => {
  type Heard = { until(text: string): Promise<void>; readonly text: string };

  async function listenTo(uri: string, user: string, era: string, life: AbortController): Promise<Heard> {
    const url = `${field.origin(0)}/mcp`;
    const own = {
      ...field.as(user),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const { signal } = life;
    let response: Response;
    if (era === "2025") {
      const session = { ...own, ...(await openSession(url, {}, field.as(user))) };
      response = await fetch(url, { headers: { ...session, accept: "text/event-stream" }, signal });
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } });
      expect(await (await fetch(url, { method: "POST", headers: session, body })).text()).toContain('"result"');
    } else {
      const { body = "", headers } = modern("subscriptions/listen", {
        notifications: { resourceSubscriptions: [uri] },
      });
      response = await fetch(url, { method: "POST", headers: { ...own, ...headers }, body, signal });
    }
    const heard = {
      text: "",
      until: (text: string) => expect.poll(() => heard.text, { timeout: 10_000 }).toContain(text),
    };
    void (async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) heard.text += chunk;
    })().catch(() => undefined);
    if (era !== "2025") await heard.until("acknowledged");
    return heard;
  }

  const touch = (id: string, uri: string) => field.rpc(toolCall(1, `${id}.touch`, { uri }), { as: "bob", at: 0 });

  test.each([
    ["2025", "one", "file:///dir"],
    ["2026", "one", "file:///dir"],
    ["2025", "two", "two+file:///dir"],
    ["2026", "two", "two+file:///dir"],
  ])("hears in %s of what they may see of %s, and nothing of what is denied to them", async (era, id, whole) => {
    const life = new AbortController();
    const ann = await listenTo(whole, "ann", era, life);
    const bob = await listenTo(whole, "bob", era, life);
    for (const part of PARTS) await touch(id, part);
    await touch(id, "file:///dir/pub.txt");
    await touch(id, "file:///dir");
    for (const heard of [ann, bob]) {
      await heard.until(`"uri":"${whole}/pub.txt"`);
      await heard.until(`"uri":"${whole}"`);
    }
    expect(ann.text).not.toMatch(/merger|secret|priv/);
    expect(bob.text.match(/merger/g)?.length).toBe(PARTS.length);
    life.abort();
  });
});
