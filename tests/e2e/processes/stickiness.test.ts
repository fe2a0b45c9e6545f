import { expect, test } from "vitest";
import { Client, saidIn } from "./client.ts";
import { browserTable, newMark, startCluster, type TestCluster } from "./cluster.ts";

/** As the guide has it: the cookie first, then the session, and whoever has neither goes anywhere. */
const ROUTES = `map $http_mcp_session_id $by_session { "" $request_id; default $http_mcp_session_id; }
  map $cookie_gw_route $route { "" $by_session; default $cookie_gw_route; }`;
const STICKY = { http: ROUTES, choose: "hash $route consistent;" };

const cookieOf = ({ opened }: Client): string | undefined => opened.headers["set-cookie"]?.[0]?.split(";", 1)[0];

/** Which gateways served a few calls with these headers. */
async function servers({ balancer }: TestCluster, client: Client, headers: Record<string, string>, calls = 8) {
  const served = new Set<unknown>();
  for (let index = 0; index < calls; index++) {
    const answer = await client.call(`${balancer.origin}/mcp`, "browser.look", {}, headers);
    expect(saidIn(answer).pid).toBeGreaterThan(0);
    served.add(answer.headers["x-served-by"]);
  }
  return served;
}

test("a cookie of the first answer keeps a client at one process; others may be forged and change nothing [AP-094] [AP-095] [AP-096] [AP-099]", async () => {
  const table = browserTable("browser", newMark(), 'sessions = "per-client"');
  await using cluster = await startCluster({ servers: table, cluster: "cookie = true", balancer: STICKY });
  const url = `${cluster.balancer.origin}/mcp`;
  const clients = await Promise.all(Array.from({ length: 24 }, () => Client.open(url)));
  // First messages went to processes by chance.
  expect(new Set(clients.map(({ opened }) => opened.headers["x-served-by"])).size).toBe(3);
  const cookies = new Set(clients.map(cookieOf));
  expect(cookies.size).toBe(3);
  for (const cookie of cookies) expect(cookie).toMatch(/^gw_route=[A-Za-z0-9_-]{22}$/);
  const [client] = clients as [Client];
  expect(client.opened.headers["set-cookie"]?.[0]).toMatch(/; Path=\/mcp; HttpOnly; Secure; SameSite=Lax$/);
  const cookie = cookieOf(client) as string;
  const byCookie = await servers(cluster, client, { cookie });
  expect(byCookie.size).toBe(1);
  // Everybody with this cookie goes there, whatever the session: the cookie comes first.
  for (const other of clients.slice(1, 6)) expect(await servers(cluster, other, { cookie }, 2)).toEqual(byCookie);
  // Only the first answer has it.
  expect((await client.call(url, "browser.look", {}, { cookie })).headers["set-cookie"]).toBeUndefined();
  const { pid } = saidIn(await client.call(url, "browser.look", {}, { cookie }));
  for (const forged of [
    "gw_route=AAAAAAAAAAAAAAAAAAAAAA",
    "gw_route=../../x",
    "gw_route=",
    "gw_route=%00;gw_route=2",
  ]) {
    const answer = await client.call(url, "browser.look", {}, { cookie: forged });
    expect(saidIn(answer).pid).toBe(pid);
  }
});

test("without a cookie the hash of the session's id keeps it at one process, also where it was not opened [AP-098]", async () => {
  const table = browserTable("browser", newMark(), 'sessions = "per-client"');
  await using cluster = await startCluster({ servers: table, balancer: STICKY });
  const url = `${cluster.balancer.origin}/mcp`;
  let moved = 0;
  const places = new Set<unknown>();
  for (let index = 0; index < 12; index++) {
    const client = await Client.open(url);
    expect(client.opened.headers["set-cookie"]).toBeUndefined();
    const served = await servers(cluster, client, {}, 4);
    expect(served.size).toBe(1);
    const [place] = served;
    places.add(place);
    if (place !== client.opened.headers["x-served-by"]) moved++;
  }
  // By chance two of three sessions: that none of twelve moves happens once in half a million runs.
  expect(moved).toBeGreaterThan(0);
  expect(places.size).toBeGreaterThan(1);
});
