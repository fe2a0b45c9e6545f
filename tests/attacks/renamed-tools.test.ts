/** Catalogs may give tools other names. Whoever decides about a call must read whose tool it is, whatever its caller calls it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ROOT } from "../e2e/kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const folder = mkdtempSync(join(tmpdir(), "isthmus-renamed-"));
const file = join(folder, "log");
writeFileSync(file, "");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const args = JSON.stringify([join(ROOT, "tests/attacks/kit/loose-server.mjs"), file]);
const catalog = (id: string, rename: string, more = "") =>
  `[[catalogs]]\nid = "${id}"\ninclude = ["loose.*"]\nrename = { ${rename} }\n${more}\n`;

const config = `[auth]
tokens = true
[audit]
[access]
defaultPolicy = "opt-out"
[[access.rules]]
match = "loose.secret"
effect = "confirm"
[gate]
hold = "50ms"
evidence = "operator"
${catalog("harmless", '"loose.wipe" = "loose.read_it"')}
${catalog("swapped", '"loose.wipe" = "loose.read", "loose.read" = "loose.wipe"')}
${catalog("others", '"loose.wipe" = "bank.balance"')}
${catalog("ruled", '"loose.secret" = "loose.public"')}
[[servers]]
id = "loose"
command = ${JSON.stringify(process.execPath)}
args = ${args}
`;
const tokens = { bob: ["--user", "bob"], op: ["--user", "op", "--role", "operator"] };

type Gate = {
  readonly confirmation_id: string;
  readonly tool: string;
  readonly called_as?: string;
  readonly route: readonly string[];
  readonly confirm_url: string;
};

const gateOf = (answer: RpcMessage | undefined) =>
  (answer?.result?._meta as Record<string, Gate> | undefined)?.["x-mcpax-gate"];

let number = 0;

/** How it is called. */
const CALLS: readonly (readonly [
  string,
  (field: Attacked, path: string, call: object) => Promise<RpcMessage | undefined>,
])[] = [
  [
    "without a session",
    async (field, path, call) => (await post(`${field.origin()}${path}`, call, field.as("bob"))).messages.at(-1),
  ],
  [
    "in a session",
    async (field, path, call) => {
      const url = `${field.origin(0)}${path}`;
      const session = await openSession(url, {}, field.as("bob"));
      return (await post(url, call, { ...session, ...field.as("bob") })).messages.at(-1);
    },
  ],
];

describeAttacks("tools that are called by other names", { config, tokens }, (field) => {
  const asOperator = (path: string, headers = {}) =>
    fetch(path.startsWith("http") ? path : `${field.origin()}${path}`, { headers: { ...field.as("op"), ...headers } });

  describe.each(CALLS)("%s", (_era, call) => {
    test.each([
      ["another name", "/harmless/mcp", "loose.read_it", "loose.wipe"],
      ["that of a harmless tool", "/swapped/mcp", "loose.read", "loose.wipe"],
      ["that of another server's tool", "/others/mcp", "bank.balance", "loose.wipe"],
    ])("are shown by their own name, and by %s beside it", async (_what, path, name, own) => {
      const gate = gateOf(await call(field, path, toolCall(1, name, { place: ++number })));
      expect(gate).toMatchObject({ tool: own, called_as: name, route: own.split(".") });
      const id = gate?.confirmation_id ?? "";
      expect(await (await asOperator(`/api/approvals/${id}`)).json()).toMatchObject({ tool: own, called_as: name });
      const page = await (await asOperator(gate?.confirm_url ?? "", { accept: "text/html" })).text();
      expect(page).toContain(`<title>Approve ${own}?`);
      expect(page).toContain(`<dt>Tool</dt><dd>${own}</dd>`);
      expect(page).toContain(`<dt>Called as</dt><dd>${name}</dd>`);
      const waiting = await (await asOperator("/approvals/waiting")).text();
      expect(waiting).toContain(`>${own}</a>`);
      expect(waiting).not.toContain(`>${name}</a>`);
      const verb = await field.run(["approvals"], { ISTHMUS_TOKEN: field.token("op") });
      const row = verb.stdout.split("\n").find((line) => line.startsWith(id.slice(0, 8))) ?? "";
      expect([verb.code, row.includes(` ${own} `), row.includes(` ${name} `)]).toEqual([0, true, false]);
      expect(verb.stdout).toContain(`called as ${name}`);
      const denied = await field.run(["deny", id, "--yes"], { ISTHMUS_TOKEN: field.token("op") });
      expect(denied.stdout.split("\n")[0]).toBe(own);
      expect(denied.stdout).toContain(`called as  ${name}\n`);
      await expect
        .poll(async () => (await asOperator("/api/audit?limit=50")).text(), { timeout: 8_000 })
        .toContain(`"calledAs":"${name}"`);
    });

    test("are shown by their own name where a rule wants the yes", async () => {
      const gate = gateOf(await call(field, "/ruled/mcp", toolCall(1, "loose.public", { place: ++number })));
      expect(gate).toMatchObject({ tool: "loose.secret", route: ["loose", "secret"] });
    });

    test("are joined by whoever calls them by their own name, which is what was shown", async () => {
      const place = ++number;
      const first = gateOf(await call(field, "/harmless/mcp", toolCall(1, "loose.read_it", { place })));
      const second = gateOf(await call(field, "/mcp", toolCall(1, "loose.wipe", { place })));
      expect(second?.confirmation_id).toBe(first?.confirmation_id);
      expect([first?.tool, second?.tool]).toEqual(["loose.wipe", "loose.wipe"]);
      const other = gateOf(await call(field, "/mcp", toolCall(1, "loose.wipe", { place: ++number })));
      expect(other).not.toHaveProperty("called_as");
    });
  });
});
