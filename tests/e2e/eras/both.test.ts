/** Clients of both eras on one address, and servers of both behind it. */
import { expect, test } from "vitest";
import { startModern } from "../../../src/providers/mcp/fixtures/modern-http.ts";
import { startGateway } from "../kit/gateway.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { AskingServer, resultOf, sendModern } from "./kit.ts";

test("a hundred calls of each era in turn, to servers of both, each get their own answer in their own shape", async () => {
  await using old = await AskingServer.start({
    echo: (exchange) => exchange.result({ content: [], structuredContent: exchange.message.params?.arguments }),
  });
  await using fresh = await startModern();
  const table = (id: string, url: string) => `[[servers]]\nid = "${id}"\nurl = "${url}"\n`;
  await using gateway = await startGateway({ config: table("old", old.url) + table("fresh", fresh.url) });
  const session = await openSession(gateway.url);
  for (let round = 0; round < 100; round++) {
    const name = round % 2 === 0 ? "old.echo" : "fresh.echo";
    // The same id and arguments that differ: whatever is mixed up shows.
    const [legacy, modern] = await Promise.all([
      post(gateway.url, toolCall(round, name, { of: `2025 ${round}` }), session),
      sendModern(gateway.url, "tools/call", { name, arguments: { of: `2026 ${round}` } }, { id: round }),
    ]);
    expect(legacy.messages[0]?.id).toBe(round);
    expect(resultOf(legacy)).toMatchObject({ structuredContent: { of: `2025 ${round}` } });
    expect(JSON.stringify(legacy.messages)).not.toContain("resultType");
    expect(modern.messages[0]?.id).toBe(round);
    expect(resultOf(modern)).toMatchObject({ structuredContent: { of: `2026 ${round}` }, resultType: "complete" });
  }
});
