/** Having the gateway keep the names of very many resources, by streams on which nobody waits for anything. */
import { afterEach, expect, test } from "vitest";
import { toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { type Listening, listenTo } from "./kit/listening.ts";

const config = openTo("s", "telling-server.mjs");
/** Little enough that a process would end, had it to keep what is named here. */
const env = { NODE_OPTIONS: "--max-old-space-size=128" };
const STREAMS = 200;
const pad = "a".repeat(3_900);
const urisOf = (stream: number | string) => Array.from({ length: 100 }, (_, at) => `x://${stream}/${pad}${at}`);

describeAttacks("names of resources to listen to", { config, tokens: PEOPLE, env }, (field) => {
  const open: Listening[] = [];
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  type Stream = { readonly as: string; readonly uris: readonly string[]; readonly capabilities?: object };
  test.each<[string, (stream: number) => Stream, readonly string[]]>([
    ["the same in many streams", () => ({ as: "ann", uris: urisOf("all") }), ["taken"]],
    ["others in each stream", (stream) => ({ as: "cat", uris: urisOf(stream) }), ["taken", "refused"]],
    [
      "others for each token",
      (stream) => ({ as: stream % 2 ? "dan" : "dans", uris: urisOf(stream) }),
      ["taken", "refused"],
    ],
    ["that the server does not take", (stream) => ({ as: "eve", uris: urisOf(`no/${stream}`) }), ["left out"]],
    [
      "under other capabilities each",
      (stream) => ({ as: "ann", uris: urisOf(stream), capabilities: { experimental: { [`x${stream % 50}`]: {} } } }),
      ["taken", "refused"],
    ],
  ])(
    "are kept once, and up to a bound of each caller: %s",
    async (_name, streamOf, expected) => {
      const outcomes = new Set<string>();
      for (let stream = 0; stream < STREAMS; stream++) {
        const { as, uris, capabilities = {} } = streamOf(stream);
        const one = await listenTo(
          field.origin(0),
          { resourceSubscriptions: uris },
          { headers: field.as(as), capabilities },
        );
        open.push(one);
        if (one.status === 503) expect(one.text).toContain("end other streams");
        outcomes.add(
          one.status === 503 ? "refused" : one.text.includes("resourceSubscriptions") ? "taken" : "left out",
        );
      }
      // Another process does not say which of them its server takes.
      const isUnknown = expected[0] === "left out" && field.processes > 1;
      if (!isUnknown) expect([...outcomes].sort()).toEqual([...expected].sort());
      const theirs = await listenTo(
        field.origin(0),
        { resourceSubscriptions: ["x://mine"] },
        { headers: field.as("bob") },
      );
      open.push(theirs);
      expect(theirs.text).toContain("x://mine");
      expect((await field.rpc(toolCall(1, "s.say", {}), { as: "bob", at: 0 })).status).toBe(200);
    },
    100_000,
  );
});
