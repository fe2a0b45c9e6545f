/** A consent in one process is one in all of them, and so is each refresh. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCluster, type TestCluster } from "../processes/cluster.ts";
import { SessionClient } from "./client.ts";
import { Issuer, signIn } from "./issuer.ts";
import { ProtectedServer } from "./protected-server.ts";

let issuer: Issuer;
let crm: ProtectedServer;
let cluster: TestCluster;

beforeAll(async () => {
  issuer = await Issuer.start();
  crm = await ProtectedServer.start(issuer.url);
  const servers = `[[servers]]\nid = "crm"\nurl = "${crm.url}"\n[servers.auth]\ntype = "oauth"\n`;
  cluster = await startCluster({ servers, gateways: 2 });
}, 60_000);

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await crm?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

test("[AP-145] a link of one process is opened at another, and both use the server, with one refresh for both", async () => {
  const clients = await Promise.all([0, 1].map((index) => SessionClient.open(cluster.url(index))));
  const [one, two] = clients as [SessionClient, SessionClient];
  const [here, there] = [0, 1].map((index) => new URL(cluster.url(index)).origin) as [string, string];
  const page = await signIn((await one.linkOf("crm.sign_in")).replace(here, there), "ann");
  expect(page.text).toContain("can be used now");
  await Promise.all([one.sees("crm.whoami"), two.sees("crm.whoami")]);
  crm.distrust();
  const said = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? one : two).call("crm.whoami")));
  expect(new Set(said)).toEqual(new Set(["ann"]));
  expect(issuer.grants).toEqual(["authorization_code", "refresh_token"]);
});
