/** Our upstream leg against a real authorization server: one consent, and then nobody opens a page. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TrailWatch } from "../../kit/attack-trace.ts";
import { modern } from "../../kit/modern-client.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { freePort, Workspace } from "../identity/workspace.ts";
import { post } from "../kit/rpc.ts";
import { SessionClient } from "./client.ts";
import { Issuer, signIn } from "./issuer.ts";
import { ProtectedServer } from "./protected-server.ts";

const ACCESS = '[access]\ndefaultPolicy = "opt-out"\n\n';
const TOKENS = `[auth]\ntokens = true\nlocal = false\n\n${ACCESS}`;

function serverTable(id: string, url: string, more = ""): string {
  return `[[servers]]\nid = "${id}"\nurl = "${url}"\n[servers.auth]\ntype = "oauth"\n${more}\n`;
}

class Rig implements AsyncDisposable {
  readonly issuer: Issuer;
  readonly crm: ProtectedServer;
  readonly workspace: Workspace;
  readonly listen: string;
  url = "";

  private constructor(parts: { issuer: Issuer; crm: ProtectedServer; workspace: Workspace; listen: string }) {
    this.issuer = parts.issuer;
    this.crm = parts.crm;
    this.workspace = parts.workspace;
    this.listen = parts.listen;
  }

  static async start(head = "", more = "", auth = ""): Promise<Rig> {
    const issuer = await Issuer.start();
    const crm = await ProtectedServer.start(issuer.url);
    const workspace = new Workspace(head + serverTable("crm", crm.url, auth) + more);
    return new Rig({ issuer, crm, workspace, listen: `127.0.0.1:${await freePort()}` });
  }

  async up(): Promise<void> {
    this.url = `${await this.workspace.up(this.listen)}/mcp`;
  }

  /** A client whose user has allowed the server. */
  async signedIn(name: string, token?: string): Promise<SessionClient> {
    const client = await SessionClient.open(this.url, token);
    const page = await signIn(await client.linkOf("crm.sign_in"), name);
    expect(page.text).toContain("can be used now");
    await client.sees("crm.whoami");
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workspace[Symbol.asyncDispose]();
    await this.crm[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}

describe("a server that wants OAuth", () => {
  test("[AP-115] [AP-149] offers a way to sign in, and after that itself: tools, resources, prompts and lists", async () => {
    await using rig = await Rig.start();
    await rig.up();
    const client = await SessionClient.open(rig.url);
    expect(await client.names()).toEqual(["crm.sign_in"]);
    await signIn(await client.linkOf("crm.sign_in"), "ann");
    await client.sees("crm.whoami");
    rig.crm.bare.length = 0;
    expect(await client.call("crm.whoami")).toBe("ann");
    const read = await client.ask("resources/read", { uri: "note://one" });
    const prompt = await client.ask("prompts/get", { name: "crm.hello" });
    expect(JSON.stringify([read.result, prompt.result])).toMatch(/"text":"ann".*"text":"ann"/);
    expect(rig.crm.bare).toEqual([]);
  });

  test("stays away from a user who says no at the issuer, and the page shows the issuer's own words", async () => {
    await using rig = await Rig.start();
    await rig.up();
    const client = await SessionClient.open(rig.url);
    const agent = new UserAgent();
    const login = await agent.submit(await agent.open(await client.linkOf("crm.sign_in")));
    const [, cancel = ""] = /href="([^"]*\/abort)"/.exec(login.text) ?? [];
    const page = await agent.open(new URL(cancel, login.url).href);
    expect(new URL(page.url).searchParams.get("error")).toBe("access_denied");
    expect(page.status).toBe(400);
    expect(page.text).toContain("did not agree (access_denied: End-User aborted interaction)");
    expect(await client.names()).toEqual(["crm.sign_in"]);
  });

  test("is used without a page after its token was refused, until the right to refresh is taken back", async () => {
    await using rig = await Rig.start();
    await rig.up();
    const client = await rig.signedIn("ann");
    rig.crm.distrust();
    expect(await client.call("crm.whoami")).toBe("ann");
    expect(new Set(rig.crm.tokens).size).toBe(2);
    await rig.issuer.revokeAll();
    rig.crm.distrust();
    await signIn(await client.linkOf("crm.whoami"), "ann");
    expect(await client.call("crm.whoami")).toBe("ann");
  });

  test("[AP-117] [AP-136] is known after a crash, by a token that no file holds in plain, under whichever key", async () => {
    await using rig = await Rig.start();
    await rig.up();
    await rig.signedIn("ann");
    const [token = ""] = rig.crm.tokens;
    await rig.workspace.kill();
    const rotated = await rig.workspace.run(["vault", "rotate"]);
    expect(rotated).toMatchObject({ code: 0 });
    const state = join(rig.workspace.folder, ".isthmus");
    expect(statSync(join(state, "vault.keys")).mode & 0o777).toBe(0o600);
    for (const file of ["isthmus.db", "isthmus.db-wal"]) {
      expect(readFileSync(join(state, file), "latin1")).not.toContain(token.split(".")[1]);
    }
    expect(rig.workspace.log).not.toContain(token);
    await rig.up();
    const client = await SessionClient.open(rig.url);
    await client.sees("crm.whoami");
    rig.crm.distrust();
    expect(await client.call("crm.whoami")).toBe("ann");
  });

  test("gets its own tokens alone: those of one server never reach another", async () => {
    await using issuer = await Issuer.start();
    await using files = await ProtectedServer.start(issuer.url);
    await using rig = await Rig.start("", serverTable("files", files.url));
    await rig.up();
    const client = await rig.signedIn("ann");
    expect(await client.call("crm.whoami")).toBe("ann");
    expect(await client.names()).toEqual(["crm.whoami", "files.sign_in"]);
    await client.linkOf("files.sign_in");
    expect(files.tokens).toEqual([]);
  });

  test("asks the user of a client that shows pages, and the call goes on", async () => {
    await using rig = await Rig.start();
    await rig.up();
    const client = await SessionClient.open(rig.url, undefined, { elicitation: { form: {}, url: {} } });
    const params = { name: "crm.sign_in", arguments: {} };
    const heard: (string | undefined)[] = [];
    for await (const { id, method, params: asked, result } of client.stream({ id: 7, method: "tools/call", params })) {
      heard.push(method ?? JSON.stringify(result));
      if (method !== "elicitation/create") continue;
      expect(asked).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
      await client.answer(id, { action: "accept" });
      await signIn(String(asked?.url), "ann");
    }
    expect(heard[0]).toBe("elicitation/create");
    expect(heard.at(-1)).toContain("can be used now");
  });
});

describe("a client of 2026-07-28", () => {
  test("is asked for a page in a round of input, and has its answer in the next", async () => {
    await using rig = await Rig.start();
    await rig.up();
    const capabilities = { elicitation: { url: {} } };
    const call = async (more: object = {}) => {
      const { body, headers } = modern("tools/call", { name: "crm.sign_in", arguments: {}, ...more }, { capabilities });
      const { messages } = await post(rig.url, JSON.parse(String(body)), headers);
      return messages.at(-1)?.result ?? {};
    };
    const { resultType, inputRequests, requestState } = await call();
    const [[key = "", asked] = []] = Object.entries(
      Object(inputRequests) as Record<string, { params: { url: string } }>,
    );
    expect(resultType).toBe("input_required");
    expect(asked).toMatchObject({ method: "elicitation/create", params: { mode: "url" } });
    await signIn(asked?.params.url ?? "", "ann");
    const last = await call({ requestState, inputResponses: { [key]: { action: "accept" } } });
    expect(JSON.stringify(last.content)).toContain("can be used now");
  });
});

describe("several users of a server that wants OAuth", () => {
  test("[AP-119] [AP-127] each have a token of their own, which all their sessions share", async () => {
    await using rig = await Rig.start(TOKENS);
    const ann = await rig.workspace.createToken("--user", "ann");
    const bob = await rig.workspace.createToken("--user", "bob");
    await rig.up();
    const annClient = await rig.signedIn("ann", ann);
    expect(await annClient.call("crm.whoami")).toBe("ann");
    const bobClient = await SessionClient.open(rig.url, bob);
    expect(await bobClient.names()).toEqual(["crm.sign_in"]);
    rig.crm.tokens.length = 0;
    await bobClient.linkOf("crm.sign_in");
    expect(rig.crm.tokens).toEqual([]);
    const another = await SessionClient.open(rig.url, ann);
    await another.sees("crm.whoami");
    expect(await another.call("crm.whoami")).toBe("ann");
  });

  test("[AP-128] have a token of medium risk for one session alone", async () => {
    await using rig = await Rig.start(TOKENS, "", 'risk = "medium"');
    const ann = await rig.workspace.createToken("--user", "ann");
    await rig.up();
    expect(await (await rig.signedIn("ann", ann)).call("crm.whoami")).toBe("ann");
    const another = await SessionClient.open(rig.url, ann);
    expect(await another.names()).toEqual(["crm.sign_in"]);
  });

  test("cannot be given each other's tokens by links, answers or browsers", async () => {
    await using rig = await Rig.start(TOKENS);
    const ann = await rig.workspace.createToken("--user", "ann");
    const admin = await rig.workspace.createToken("--user", "root", "--role", "admin");
    await rig.up();
    const client = await SessionClient.open(rig.url, ann);
    const link = await client.linkOf("crm.sign_in");
    const agent = new UserAgent();
    const open = async (url: string, by = agent) => (await by.open(url)).status;
    const { origin } = new URL(link);
    const trail = new TrailWatch({ origin: () => origin, headers: () => ({ authorization: `Bearer ${admin}` }) });
    const turnedAway = { type: "dev.isthmus.request_refused", why: "consent", details: { path: "/oauth/start/crm" } };
    const why = "This answer belongs to no sign-in of this browser, or to one that is over.";
    const refused = { type: "dev.isthmus.consent_refused", why };
    const isForbidden = async (attack: () => Promise<number>) =>
      expect(await trail.attack(attack, turnedAway, [link])).toBe(403);
    const isRefused = async (attack: () => Promise<number>) =>
      expect(await trail.attack(attack, refused, [link])).toBe(400);
    await isForbidden(() => open(`${origin}/oauth/start/crm`));
    await isForbidden(() => open(link.replace(/.{4}$/, "AAAA")));
    await isRefused(() => open(`${origin}/oauth/callback?code=x&state=y`));
    // A form that another site sends has no cookie of ours.
    const page = await agent.open(link);
    await isForbidden(async () => (await new UserAgent().submit(page)).status);
    expect(page.text).toContain("<dd>ann</dd>");
    const last = await signIn(link, "ann", agent);
    const answer = agent.visited.find((url) => url.includes("/oauth/callback?code=")) ?? "";
    expect(last.status).toBe(200);
    await isRefused(() => open(answer));
    await isRefused(() => open(answer, new UserAgent()));
  });
});
