/**
 * What the gateway does not have to change comes out as it went in, byte for byte. DESIGN section 8 lists what a hop may
 * change; the templates of these messages have holes there and nowhere else.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as client from "./kit/client-text.ts";
import { LANES, type Lane, NAMES, openLane } from "./kit/lane.ts";
import { idText } from "./kit/mcp-text.ts";
import { playScenario, scenarioFor } from "./kit/scenario.ts";
import * as server from "./kit/server-text.ts";
import { fill, hole } from "./kit/template.ts";

const RUNS = 300;
const WAYS = LANES.flatMap((kind) => ["", "px"].map((prefix) => ({ kind, prefix })));

describe.each(WAYS)("relay, $kind, prefix '$prefix'", ({ kind, prefix }) => {
  let lane: Lane;

  beforeAll(async () => {
    lane = await openLane(kind, prefix);
  });

  afterAll(() => lane?.close());

  test("keeps every byte of a call, of what is said in it and of its answer", async () => {
    await fc.assert(
      fc.asyncProperty(scenarioFor(lane), (scenario) => playScenario(lane, scenario)),
      { numRuns: RUNS, endOnFailure: true },
    );
  });

  test("keeps every byte of a message of 1 MB, either way", async () => {
    const name = JSON.stringify(prefix === "" ? NAMES.tool : `${prefix}.${NAMES.tool}`);
    const filler = `"${"é\\u00e9 ".repeat(100_000)}"`;
    const call = `{"id":${hole("id")},"method":"tools/call","jsonrpc":"2.0","params":{"arguments":[${filler}],"name":${hole("name")}}}`;
    const end = `{"result":{"content":[${filler}]},"id":${hole("id")},"jsonrpc":"2.0"}`;
    const { inbox } = lane.client.request(fill(call, { id: "1.0", name }));
    const received = await lane.upstream.received.next();
    const id = JSON.stringify(received.message.id);
    expect(received.text === fill(call, { id, name: JSON.stringify(NAMES.tool) })).toBe(true);
    received.answer(fill(end, { id }));
    expect((await inbox.next()) === fill(end, { id: "1.0" })).toBe(true);
  });

  test("keeps every byte of a notification it does not know", async () => {
    const property = fc.asyncProperty(client.unknownNotice, async (template) => {
      await lane.client.tell(fill(template, {}));
      expect((await lane.upstream.received.next()).text).toBe(lane.up(fill(template, {})));
    });
    await fc.assert(property, { numRuns: 100, endOnFailure: true });
  });

  test("keeps every byte of a cancel but the id it names", async () => {
    const property = fc.asyncProperty(client.toolCall, client.cancel, idText, async (call, cancel, id) => {
      const name = JSON.stringify(prefix === "" ? NAMES.tool : `${prefix}.${NAMES.tool}`);
      lane.client.request(fill(call.template, { id, token: id, name }));
      const received = await lane.upstream.received.next();
      await lane.client.tell(fill(cancel, { about: id }));
      const about = JSON.stringify(received.message.id);
      expect((await lane.upstream.received.next()).text).toBe(lane.up(fill(cancel, { about })));
    });
    await fc.assert(property, { numRuns: 50, endOnFailure: true });
  });

  test("keeps every byte of what a server says about a resource or outside any call", async () => {
    const uri = JSON.stringify(NAMES.uri);
    const subscribed = lane.client.request(
      `{"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":${uri}}}`,
    );
    const received = await lane.upstream.received.next();
    received.answer(`{"jsonrpc":"2.0","id":${received.message.id},"result":{}}`);
    await subscribed.inbox.next();
    const property = fc.asyncProperty(fc.oneof(server.updated, server.log), async (template) => {
      lane.upstream.say(fill(template, { name: uri }));
      expect(await lane.client.outside.next()).toBe(outsideText(lane, fill(template, { name: uri })));
    });
    await fc.assert(property, { numRuns: 100, endOnFailure: true });
  });
});

/** Outside calls even the JSON lane speaks in events. */
function outsideText(lane: Lane, text: string): string {
  return lane.down(text).replace(/\r\n|\r/g, "\n");
}
