/** The yes of an operator who is blocked before the call is made: stolen credentials must be worth nothing from then on. */
import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const config = `[auth]
tokens = true
[audit]
${places.gatedTable('hold = "50ms"')}`;

const acme = ["--tenant", "acme"];
const operator = (user: string) => ["--user", user, "--role", "operator"];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  bob: ["--user", "bob"],
  stays: operator("stays"),
  token: operator("token"),
  user: operator("user"),
  principal: operator("principal"),
  client: operator("client"),
  boss: ["--user", "boss", "--role", "admin", ...acme],
  kim: ["--user", "kim", ...acme],
  chief: [...operator("chief"), ...acme],
  tina: [...operator("tina"), ...acme],
};

type Gate = { readonly confirmation_id: string };
type Token = { readonly id: string; readonly user: string };

const gateOf = (answer: RpcMessage | undefined) =>
  (answer?.result?._meta as Record<string, Gate> | undefined)?.["x-mcpax-gate"];
const textOf = (answer: RpcMessage | undefined) => JSON.stringify(answer?.result ?? answer?.error ?? {});

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

let number = 0;
const fresh = () => ({ path: `only with a yes ${++number}` });

describeAttacks("the yes of somebody blocked since", { config, tokens }, (field) => {
  const call = async (as: string, args: object, at?: number) => {
    const way = { as, ...(at !== undefined && { at }) };
    return (await field.rpc(toolCall(1, "places.touch", args), way)).messages.at(-1);
  };
  const asRoot = async (method: string, path: string, body?: object) => {
    const answer = await field.api(method, path, body, { as: "root" });
    expect([200, 201, 204]).toContain(answer.status);
    return answer.body;
  };
  const block = (body: object) => asRoot("POST", "/api/revocations", { reason: "was stolen", ...body });
  const tokenOf = async (user: string) => {
    const { tokens: all } = (await asRoot("GET", "/api/tokens")) as { tokens: Token[] };
    return all.find((one) => one.user === user)?.id ?? "";
  };
  /** As the gateway itself names it, on what it has decided. */
  const principalOf = async (id: string) =>
    String(((await asRoot("GET", `/api/approvals/${id}`)) as { decided_by: string }).decided_by);
  const approved = async (as: string, headers: Record<string, string>, args: object) => {
    const gate = gateOf(await call(as, args));
    const { status } = await field.api("POST", `/api/approvals/${gate?.confirmation_id}/approve`, undefined, {
      headers,
    });
    expect(status).toBe(200);
    return gate?.confirmation_id ?? "";
  };
  /** In every process. */
  const isOut = async (headers: Record<string, string>) => {
    for (let at = 0; at < field.processes; at++) {
      const look = async () => (await field.api("GET", "/api/approvals", undefined, { headers, at })).status;
      await expect.poll(look, { timeout: 8_000 }).toBeGreaterThanOrEqual(401);
    }
  };
  const isAskedAnew = async (as: string, args: { readonly path: string }, first: string) => {
    for (let at = 0; at < field.processes; at++) {
      const again = await call(as, args, at);
      expect(textOf(again)).not.toContain("done");
      expect(gateOf(again)?.confirmation_id).not.toBe(first);
    }
    expect(places.seen).not.toContain(args.path);
  };

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["token", async () => asRoot("DELETE", `/api/tokens/${await tokenOf("token")}`)],
    ["user", () => block({ type: "user", id: "user" })],
    ["principal", async (id) => block({ type: "principal", id: await principalOf(id) })],
    ["client", () => block({ type: "client", hash: hashOf(field.token("client")) })],
  ])("counts for nothing, whatever of theirs is blocked: the %s", { timeout: 30_000 }, async (op, takeBack) => {
    const args = fresh();
    const id = await approved("bob", field.as(op), args);
    await takeBack(id);
    await isOut(field.as(op));
    await isAskedAnew("bob", args, id);
    expect(await asRoot("GET", `/api/approvals/${id}`)).toMatchObject({ state: "withdrawn", decided_by: "gateway" });
    const look = async () => (await field.api("GET", "/api/audit?limit=50", undefined, { as: "root" })).text;
    await expect.poll(look, { timeout: 8_000 }).toContain(`"why":"whoever approved it was blocked since"`);
  });

  test("counts for nothing where the platform blocks whoever made their token", { timeout: 30_000 }, async () => {
    const order = { user: "tess", role: "operator" };
    const made = await field.api("POST", "/api/tokens", order, { as: "boss" });
    expect(made.status).toBe(201);
    const headers = { authorization: `Bearer ${(made.body as { token: string }).token}` };
    const args = fresh();
    const id = await approved("kim", headers, args);
    await block({ type: "user", id: "boss", tenant: "acme" });
    await isOut(headers);
    await isAskedAnew("kim", args, id);
  });

  test("counts for nothing where an operator who asked for the call tries to let their token in again", async () => {
    const args = fresh();
    const id = await approved("chief", field.as("tina"), args);
    await asRoot("DELETE", `/api/tokens/${await tokenOf("tina")}`);
    await isOut(field.as("tina"));
    const { blocks } = (await field.api("GET", "/api/orgs/acme/blocks", undefined, { as: "chief" })).body as {
      blocks: { id: string; key: string }[];
    };
    const own = blocks.find(({ key }) => key === hashOf(field.token("tina")));
    for (const name of [own?.id, own?.key]) {
      const removed = await field.api("DELETE", `/api/orgs/acme/blocks/${name}`, undefined, { as: "chief" });
      expect(removed).toMatchObject({ status: 403, text: expect.stringContaining("was revoked") });
    }
    await isAskedAnew("chief", args, id);
  });

  test("goes on to count where somebody else was blocked", async () => {
    const args = fresh();
    await approved("bob", field.as("stays"), args);
    await block({ type: "user", id: "somebody else" });
    expect(textOf(await call("bob", args))).toContain("done");
    expect(places.seen).toContain(args.path);
  });
});
