import { describe, expect, test } from "vitest";
import { DEFAULT_TENANT, LOCAL, type Operation, type Principal, ROLES, type Role } from "../../contract/index.ts";
import { auditOperations } from "./audit-operations.ts";
import { entryOf } from "./block.ts";
import { eventLine } from "./event-line.ts";
import { KeptTrail } from "./fixtures/kept-trail.ts";
import { RecentBlocks } from "./recent-blocks.ts";
import { passingSigner } from "./signing.ts";

const { publicKey } = passingSigner();
const rows = new RecentBlocks();
for (const tenant of ["acme", "other", "acme"]) {
  const line = eventLine(
    {
      ...{ type: "TOOL_BLOCKED", tenant, actor: { type: "agent", id: "ann" }, target: { server: "s", name: "t" } },
      ...{ result: "BLOCKED", details: {} },
    },
    { at: 1_800_000_000_000, id: tenant, traceId: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11" },
  );
  rows.add(entryOf(line));
}

function person(role: Role, tenant = "acme"): Principal {
  const identity = { tenant, user: "u", client: "c", groups: [], scopes: [], role, proof: "token" } as const;
  return { id: `${tenant}/u`, identity };
}

async function run(
  id: string,
  input: object,
  principal = LOCAL,
  operations = auditOperations({ rows, hasPlain: false, publicKey }),
) {
  const found = operations.find((one) => one.id === id) as Operation;
  const checked = found.input.check(input);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const { body } = await found.run(checked.value, { principal });
  if (found.output) expect(found.output.check(body)).toEqual({ value: body });
  return body as { events: { details: { tenant: string } }[] };
}

const tenants = async (input: object, principal: Principal) =>
  (await run("audit.query", input, principal)).events.map(({ details }) => details.tenant);

describe("the operations of the audit trail", () => {
  test.each(ROLES)("show a tenant's %s nothing of other tenants, whatever is asked for", async (role) => {
    expect(await tenants({}, person(role))).toEqual(["acme", "acme"]);
    expect(await tenants({ tenant: "other" }, person(role))).toEqual(["acme", "acme"]);
  });

  test.each(ROLES)("show the platform's %s everything, or the tenant that is asked for", async (role) => {
    const looking = person(role, DEFAULT_TENANT);
    expect(await tenants({}, looking)).toEqual(["acme", "other", "acme"]);
    expect(await tenants({ tenant: "other" }, looking)).toEqual(["other"]);
    expect(await tenants({ limit: "1", event_type: "TOOL_BLOCKED" }, looking)).toEqual(["acme"]);
  });

  test.each(["audit.verify", "audit.export"])("give the whole trail to nobody but the platform: %s", async (id) => {
    const kept = auditOperations({ rows, hasPlain: false, kept: new KeptTrail().rows, publicKey });
    await expect(run(id, {}, person("admin"), kept)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    expect(await run(id, {}, person("admin", DEFAULT_TENANT), kept)).toMatchObject({ publicKey });
  });

  test("verify and export nothing where nothing is kept", async () => {
    for (const id of ["audit.verify", "audit.export"]) {
      await expect(run(id, {})).rejects.toMatchObject({ code: "CONFLICT" });
    }
  });

  test("answer in the form that they declare, also about an empty trail", async () => {
    const kept = auditOperations({ rows, hasPlain: false, kept: new KeptTrail().rows, publicKey });
    expect(await run("audit.verify", {}, LOCAL, kept)).toMatchObject({ isIntact: true, events: 0, publicKey });
    expect(await run("audit.export", {}, LOCAL, kept)).toMatchObject({ items: [], publicKey });
    for (const cursor of ["x", "{}", '{"phase":"blocks"}', '{"phase":"heads","after":1}']) {
      await expect(run("audit.export", { cursor }, LOCAL, kept)).rejects.toMatchObject({ code: "BAD_CALL" });
    }
  });
});
