/**
 * A server on stdio runs in one of several processes, and is the same in each: what somebody was asked about at one of them is
 * decided, and asked for again, at another.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSession, post, type RpcMessage, toolCall } from "../e2e/kit/rpc.ts";
import { eventually } from "../kit/eventually.ts";
import { parts } from "../needs/programs.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/sdk-server.ts", import.meta.url));
const META = "io.modelcontextprotocol/";

const table = (id: string, more = "") =>
  `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}]\n${more}\n`;

/** With what each means for the way between processes. */
const SERVERS = { disk: "", old: 'era = "2025"', slow: 'task = "auto"', oldslow: 'era = "2025"\ntask = "auto"' };
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[gate]
hold = "8s"
evidence = "operator"
${Object.entries(SERVERS)
  .map(([id, more]) => table(id, more))
  .join("")}`;
const tokens = { ann: ["--user", "ann"], op: ["--user", "op", "--role", "operator"] };

type Waiting = { readonly confirmation_id: string; readonly arguments: unknown };

const textOf = (message: RpcMessage | undefined) => JSON.stringify(message?.result ?? message);

let last = 0;
const newDisk = () => `disk ${++last} of ${process.pid}`;

// The official SDK is in the parts.
const title = `a yes to a server of the official SDK (${parts.name})`;
describeAttacks(title, { config, tokens }, (field) => {
  const PLACES = [0, 1, 2];
  const origin = (place: number) => field.origin(place % field.processes);
  const wipe = (place: number, disk: string, name = "disk.wipe") =>
    post(`${origin(place)}/mcp`, toolCall(1, name, { disk }), field.as("ann"));

  async function waiting(place: number, disk: string): Promise<Waiting> {
    const read = async () => {
      const { body } = await field.api("GET", "/api/approvals?state=waiting", undefined, {
        as: "op",
        at: place % field.processes,
      });
      const { approvals } = body as { approvals: Waiting[] };
      return approvals.filter((gate) => JSON.stringify(gate.arguments).includes(`${disk}"`));
    };
    const [gate] = await eventually(read, (found) => found.length > 0);
    if (!gate) throw new Error("nothing waits");
    return gate;
  }

  async function approve(place: number, { confirmation_id: id }: Waiting): Promise<void> {
    const way = { as: "op", at: place % field.processes };
    const { status, text } = await field.api("POST", `/api/approvals/${id}/approve`, {}, way);
    expect([status, text]).toEqual([200, expect.stringContaining("dispatched")]);
  }

  async function approveByCommand(place: number, { confirmation_id: id }: Waiting): Promise<void> {
    const env = { ISTHMUS_TOKEN: field.token("op") };
    const { code, stdout, stderr } = await field.run(["approve", id, "--url", origin(place)], env);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining("the call was made"), ""]);
  }

  const ways: [string, typeof approve][] = [
    ["over the API", approve],
    ["on the command line", approveByCommand],
  ];
  for (const [how, say] of ways) {
    test(`given ${how} at one process makes the call that is held at any of them`, async () => {
      for (const place of PLACES) {
        for (const other of PLACES) {
          const disk = newDisk();
          const answered = wipe(place, disk);
          await say(other, await waiting(other, disk));
          expect(textOf((await answered).messages.at(-1))).toContain("wiped by");
        }
      }
    });
  }

  test.each(Object.keys(SERVERS))(
    "is asked for once when the call of %s is repeated at another process",
    async (id) => {
      for (const place of PLACES) {
        const disk = newDisk();
        const answered = wipe(place, disk, `${id}.wipe`);
        const gate = await waiting(place, disk);
        const repeated = wipe(place + 1, disk, `${id}.wipe`);
        await Promise.race([repeated, new Promise((resolve) => setTimeout(resolve, 300))]);
        expect((await waiting(place + 1, disk)).confirmation_id).toBe(gate.confirmation_id);
        await approve(place + 2, gate);
        const texts = (await Promise.all([answered, repeated])).map(({ messages }) => textOf(messages.at(-1)));
        expect(texts.filter((text) => text.includes("wiped by"))).toHaveLength(1);
        expect(texts.join()).not.toContain("withdrawn");
      }
    },
  );

  const LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
  const envelope = {
    [`${META}protocolVersion`]: "2026-07-28",
    [`${META}clientInfo`]: { name: "e2e", version: "1" },
    [`${META}clientCapabilities`]: {},
  };

  async function shownTo2025(place: number, catalog: string): Promise<unknown> {
    const url = `${origin(place)}/${catalog}/mcp`;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const { messages } = await post(url, { id: 1, method: "initialize", params }, field.as("ann"));
    const session = { ...(await openSession(url, {}, field.as("ann"))), ...field.as("ann") };
    const lists = LISTS.map(async (method) => (await post(url, { id: 2, method }, session)).messages.at(-1));
    return [messages.at(-1), await Promise.all(lists)];
  }

  async function shownTo2026(place: number, catalog: string): Promise<unknown> {
    const url = `${origin(place)}/${catalog}/mcp`;
    const asked = ["server/discover", ...LISTS].map(async (method) => {
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...field.as("ann") };
      return (await post(url, { id: 1, method, params: { _meta: envelope } }, headers)).messages.at(-1);
    });
    return await Promise.all(asked);
  }

  test.each(Object.keys(SERVERS))("is about the same %s in each process, for clients of both eras", async (id) => {
    for (const shown of [shownTo2025, shownTo2026]) {
      const [first, second, third] = await Promise.all(PLACES.map((place) => shown(place, id)));
      expect(JSON.stringify(first)).toContain("Wipes a disk.");
      expect(JSON.stringify(first)).toContain("Wipe nothing that you need.");
      expect([second, third]).toEqual([first, first]);
    }
  });
});
