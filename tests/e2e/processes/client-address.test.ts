import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { toolCall } from "../kit/rpc.ts";
import { browserTable, newMark, startCluster } from "./cluster.ts";

const CLIENT = "127.0.0.2";
const FORGED = { "x-forwarded-for": "6.6.6.6", forwarded: "for=6.6.6.6" };

/** Asks from an address of its own, on a connection of its own; gives back the id of the session. */
function askFrom(address: string, url: string, message: object, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      localAddress: address,
      agent: false,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    });
    sent.on("error", reject).on("response", (response) => {
      response.resume().on("error", reject);
      response.on("end", () => resolve(String(response.headers["mcp-session-id"])));
    });
    sent.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
  });
}

type Line = { readonly message: string; readonly address?: string; readonly reason?: string };

test("the log names whom nginx serves, at the home of the session, and nobody who only says so [AP-090]", async () => {
  const logs = mkdtempSync(join(tmpdir(), "isthmus-addresses-"));
  try {
    await using cluster = await startCluster({
      servers: browserTable("browser", newMark()),
      gateway: 'trustedProxies = ["127.0.0.1"]\nlogLevel = "debug"',
      balancer: { location: "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" },
      gateways: 2,
      logs,
    });
    const linesOf = (index: number): Line[] =>
      readFileSync(join(logs, `gateway-${index}.log`), "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const finished = (index: number) =>
      linesOf(index)
        .filter(({ message }) => message === "call finished")
        .map(({ address }) => address);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const session = await askFrom(CLIENT, cluster.url(0), { id: 0, method: "initialize", params }, {});
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25", ...FORGED };
    const call = (id: number) => toolCall(id, "browser.look", {});
    // By way of nginx, which deals in turn: the home is the first process, whoever gets the request.
    for (let id = 1; id <= 4; id++) await askFrom(CLIENT, `${cluster.balancer.origin}/mcp`, call(id), headers);
    // Straight to each process: this client is no proxy of ours, whatever it says.
    for (const index of [0, 1]) await askFrom("127.0.0.3", cluster.url(index), call(5 + index), headers);
    const expected = [CLIENT, CLIENT, CLIENT, CLIENT, "127.0.0.3", "127.0.0.3"];
    await eventually(
      () => finished(0).length,
      (count) => count >= expected.length,
    );
    expect(finished(0)).toEqual(expected);
    const gone = { ...headers, host: "elsewhere" };
    await askFrom(CLIENT, `${cluster.balancer.origin}/mcp`, call(9), gone);
    const refused = () =>
      [0, 1].flatMap(linesOf).filter(({ message, reason }) => message === "request refused" && reason === "host");
    await eventually(
      () => refused().length,
      (count) => count > 0,
    );
    expect(refused()).toMatchObject([{ address: CLIENT }]);
  } finally {
    rmSync(logs, { recursive: true, force: true });
  }
});
