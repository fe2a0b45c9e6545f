/** What operators have decided about a call, made worthless: asked again under another name, or by a change of somebody else's policy. */
import { afterAll, expect, test } from "vitest";
import { openSession, post, type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const config = `[auth]
tokens = true
${places.gatedTable('hold = "50ms"')}`;

const acme = ["--tenant", "acme"];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  op: ["--user", "op", "--role", "operator"],
  ann: ["--user", "ann"],
  annToo: ["--user", "ann"],
  annPhone: ["--user", "ann", "--client", "phone"],
  boss: ["--user", "boss", "--role", "admin", ...acme],
  tess: ["--user", "tess", "--role", "operator", ...acme],
  kim: ["--user", "kim", ...acme],
};

type Waiting = { readonly confirmation_id: string };
/** Whoever asks, and who decides about that. */
const DECIDERS = { ann: "op", kim: "boss", boss: "tess" } as const;
const REQUESTER = "dev.isthmus/requester";

let number = 0;
const fresh = () => ({ path: `place ${++number}` });
const textOf = (answer: RpcMessage | undefined) => JSON.stringify(answer?.result ?? answer?.error ?? {});

describeAttacks("decisions", { config, tokens }, (field) => {
  /** `as`: unset, whoever the headers say. */
  const call = async (
    as: string | undefined,
    args: object,
    meta?: object,
    headers: Record<string, string> = {},
    at?: number,
  ) => {
    const { messages } = await field.rpc(toolCall(1, "places.touch", args, meta), {
      ...(as !== undefined && { as }),
      headers,
      ...(at !== undefined && { at }),
    });
    return textOf(messages.at(-1));
  };
  const waiting = async (as: string) => {
    const { body } = await field.api("GET", "/api/approvals?state=waiting", undefined, { as });
    return (body as { approvals: Waiting[] }).approvals;
  };
  /** Asks for a call, and has it decided. */
  const decided = async (caller: keyof typeof DECIDERS, args: object, decision: "approve" | "deny") => {
    expect(await call(caller, args)).toContain("confirmation_id");
    const by = DECIDERS[caller];
    const [asked] = await waiting(by);
    const path = `/api/approvals/${asked?.confirmation_id}/${decision}`;
    expect((await field.api("POST", path, undefined, { as: by })).status).toBe(200);
  };
  const change = async (org: string, as: string, enabled: boolean) => {
    const exposure = { server: "places", protocol: "mcp", primitive: "read", enabled };
    const { status } = await field.api("PUT", `/api/policy/orgs/${org}/exposure`, exposure, { as });
    expect(status).toBe(200);
  };
  const isSeen = async (as: string, at: number) => {
    const { messages } = await field.rpc({ id: 1, method: "tools/list", params: {} }, { as, at });
    return textOf(messages.at(-1)).includes('"places.read"');
  };
  /** In every process. */
  const changed = async (org: string, as: string, seenBy: string, enabled: boolean) => {
    await change(org, as, enabled);
    for (let at = 0; at < field.processes; at++)
      await expect.poll(() => isSeen(seenBy, at), { timeout: 8_000 }).toBe(enabled);
  };
  const openAs = async (name: string, at: number) => {
    const url = `${field.origin(at)}/mcp`;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
    const { headers } = await post(url, { id: 0, method: "initialize", params }, field.as("ann"));
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    await post(url, { method: "notifications/initialized" }, { ...session, ...field.as("ann") });
    return session;
  };

  test.each([
    ["for nobody else", (args: object) => call("ann", args)],
    ["for callers that it has made up", (args: object) => call("ann", args, { [REQUESTER]: `r${++number}` })],
    [
      "for such callers in another session",
      async (args: object) => {
        const headers = await openSession(`${field.origin(0)}/mcp`, {}, field.as("ann"));
        return await call("ann", args, { [REQUESTER]: `r${++number}` }, headers, 0);
      },
    ],
    [
      "as a client that says it is a gateway",
      async (args: object) => call("ann", args, undefined, await openAs("isthmus", 0), 0),
    ],
  ])("a no holds for whoever asks again %s", async (_how, again) => {
    const args = fresh();
    await decided("ann", args, "deny");
    for (let turn = 0; turn < 3; turn++) expect(await again(args)).toContain("Denied by op");
    expect(await waiting("op")).toEqual([]);
  });

  test.each(["annToo", "annPhone"])("a no holds for the same user with another token: %s", async (other) => {
    const args = fresh();
    await decided("ann", args, "deny");
    for (const more of [undefined, { [REQUESTER]: `r${++number}` }])
      expect(await call(other, args, more)).toContain("Denied by op");
    expect(await waiting("op")).toEqual([]);
  });

  test.each([
    ["for itself", { user: "boss" }],
    ["for somebody else", { user: "zoe" }],
    ["for another admin, that makes one", { user: "deputy", role: "admin" }],
  ])("a no holds for a token that whoever was told no makes %s", async (_whom, body) => {
    const made = async (headers: Record<string, string>, order: object) => {
      const answer = await field.api("POST", "/api/tokens", order, { headers });
      expect(answer.status).toBe(201);
      return { authorization: `Bearer ${(answer.body as { token: string }).token}` };
    };
    const args = fresh();
    await decided("boss", args, "deny");
    const first = await made(field.as("boss"), body);
    const headers = body.user === "deputy" ? await made(first, { user: "puppet" }) : first;
    expect(await call(undefined, args, undefined, headers)).toContain("Denied by tess");
    expect(await waiting("tess")).toEqual([]);
    expect(await call("kim", args)).toContain("confirmation_id");
    const [asked] = await waiting("tess");
    await field.api("POST", `/api/approvals/${asked?.confirmation_id}/deny`, undefined, { as: "tess" });
  });

  test("a no ends what the same user asks at that moment, with other tokens and for callers that it has made up", async () => {
    const args = fresh();
    for (const as of ["annToo", "annPhone"]) expect(await call(as, args)).toContain("confirmation_id");
    for (const made of ["one", "two"])
      expect(await call("ann", args, { [REQUESTER]: made })).toContain("confirmation_id");
    expect(await waiting("op")).toHaveLength(4);
    await decided("ann", args, "deny");
    expect(await waiting("op")).toEqual([]);
    for (const as of ["annToo", "annPhone"]) expect(await call(as, args)).toContain("Denied by op");
  });

  test.each<"approve" | "deny">(["approve", "deny"])(
    "to %s holds in one tenant though another changes what is its own",
    async (decision) => {
      const args = fresh();
      await decided("ann", args, decision);
      await changed("acme", "boss", "kim", false);
      await changed("acme", "boss", "kim", true);
      expect(await call("ann", args)).toContain(decision === "approve" ? "done" : "Denied by op");
    },
  );

  test("a yes ends with a change of the tenant's own policy, and of the platform's", async () => {
    for (const [org, as] of [
      ["acme", "boss"],
      ["*", "root"],
    ] as const) {
      const args = fresh();
      await decided("kim", args, "approve");
      await changed(org, as, "kim", false);
      expect(await call("kim", args)).toContain("confirmation_id");
      await changed(org, as, "kim", true);
    }
  });
});
