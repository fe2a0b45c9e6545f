/** Programs that others wrote, on both sides of one gateway process, all at once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { CLIENTS } from "./clients.ts";
import type { Connect, RealClient, Result, Tool } from "./part.ts";
import { asConfig, describeServers, type PartServer } from "./servers.ts";
import { connectStdio } from "./stdio-client.ts";

const ROUNDS = 3;
const NOTE = "Between two seas lies the isthmus.\n";

let folder = "";
let gateway: RunningGateway;
let servers: readonly PartServer[] = [];
/** The same programs without anything in between. */
const direct = new Map<string, RealClient>();
const clients = new Map<string, RealClient>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-parts-"));
  writeFileSync(join(folder, "note.txt"), NOTE);
  const home = mkdtempSync(join(folder, "home-"));
  servers = describeServers(folder);
  gateway = await startGateway({ config: asConfig(servers) });
  for (const { id, args, env } of servers) direct.set(id, await connectStdio({ args, env }));
  const connect = async ([who, open]: [string, Connect]) => clients.set(who, await open({ url: gateway.url, home }));
  await Promise.all(Object.entries(CLIENTS).map(connect));
}, 400_000);

afterAll(async () => {
  for (const client of [...clients.values(), ...direct.values()]) await client.close();
  await gateway?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** All clients together, `ROUNDS` times. */
async function eachAtOnce(work: (client: RealClient, who: string) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++)
    await Promise.all([...clients].map(([who, client]) => work(client, who)));
}

/** Its server offers it only to clients with roots, and the Inspector is one. */
const isForEverybody = ({ name }: Tool): boolean => name !== "everything.get-roots-list";

/** 2026-07-28 has no `execution` (tasks are an extension there), and two of the clients speak it. */
const withoutExecution = ({ execution: _, ...tool }: Tool & { readonly execution?: unknown }): Tool => tool;

/** The gateway says of a tool that it cannot be taken back; nothing else of its entry is changed. */
function withoutFlags(tool: Tool & { readonly _meta?: Readonly<Record<string, unknown>> }): Tool {
  const { _meta = {}, ...rest } = tool;
  const kept = Object.entries(_meta).filter(([key]) => key !== "x-mcpax-safety" && key !== "x-mcpax-gated");
  const unflagged = { ...rest, _meta: Object.fromEntries(kept) };
  return kept.length > 0 ? unflagged : rest;
}

/** What a call is about, whatever the client and its era put around it. */
const core = ({ content, structuredContent }: Result) => ({ content, structuredContent });

function askDirectly(id: string): RealClient {
  const client = direct.get(id);
  if (client === undefined) throw new Error(`${id} is not there`);
  return client;
}

/** Calls that change nothing, with the server that also answers them directly. */
const READING = [
  { server: "everything", tool: "echo", args: { message: "grüß dich, 世界" } },
  { server: "everything", tool: "get-sum", args: { a: 40, b: 2 } },
  { server: "everything", tool: "get-structured-content", args: { location: "Chicago" } },
  { server: "everything", tool: "get-tiny-image", args: {} },
  { server: "files", tool: "list_allowed_directories", args: {} },
] as const;

async function readAll(client: RealClient): Promise<void> {
  const note = { server: "files", tool: "read_text_file", args: { path: join(folder, "note.txt") } };
  await Promise.all(
    [...READING, note].map(async ({ server, tool, args }) => {
      const [through, directly] = await Promise.all([
        client.call(`${server}.${tool}`, args),
        askDirectly(server).call(tool, args),
      ]);
      expect(core(through), `${server}.${tool}`).toEqual(core(directly));
    }),
  );
}

/** The arguments of one round of one client, so that a mixed-up answer cannot pass for the right one. */
const entity = (who: string, round: number) => ({
  name: `${who} ${round}`,
  entityType: "round",
  observations: [`${who} was here`],
});

test("the gateway has every server, a browser's too where there is no browser", () => {
  expect(gateway.servers).toEqual([
    { id: "everything", status: "ok", tools: 13 },
    { id: "files", status: "ok", tools: 14 },
    { id: "memory", status: "ok", tools: 9 },
    { id: "playwright", status: "ok", tools: 25 },
  ]);
});

describe("four clients at once, several times over", () => {
  test("each lists every tool of every server as the server itself does", { timeout: 60_000 }, async () => {
    const lists = await Promise.all(
      servers.map(async ({ id }) =>
        (await askDirectly(id).list()).map((tool) => withoutExecution({ ...tool, name: `${id}.${tool.name}` })),
      ),
    );
    const expected = lists.flat();
    await eachAtOnce(async (client, who) => {
      const found = await client.list();
      expect(found.filter(isForEverybody).map(withoutExecution).map(withoutFlags), who).toEqual(expected);
    });
  });

  test("each gets from every server what a direct call gets", { timeout: 60_000 }, async () => {
    await eachAtOnce((client) => readAll(client));
  });

  test("what each wrote through the gateway is there for a direct reader", { timeout: 60_000 }, async () => {
    // The server writes its whole file for each change, and two changes at once would race within it.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [who, client] of clients)
        await client.call("memory.create_entities", { entities: [entity(who, round)] });
    }
    const graph = await askDirectly("memory").call("read_graph", {});
    const all = Array.from({ length: ROUNDS }, (_, round) => [...clients.keys()].map((who) => entity(who, round)));
    expect(graph.structuredContent).toEqual({ entities: all.flat(), relations: [] });
  });
});
