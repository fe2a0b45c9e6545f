/** A server on stdio runs in one process: to the others it is what it is there, and not what that process is. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { startCluster, type TestCluster } from "./cluster.ts";

const SERVER = fileURLToPath(new URL("servers/flagged-server.ts", import.meta.url));
const PLACES = [0, 1, 2];
/** After it has failed a few times, a server is started again only so often. */
const LONGEST_MS = 40_000;

const folder = mkdtempSync(join(tmpdir(), "isthmus-flags-"));
const SERVERS = { files: "", older: 'era = "2025"' };
const flagOf = (id: string) => join(folder, id);
const raise = () => Object.keys(SERVERS).map((id) => writeFileSync(flagOf(id), ""));
const lower = () => Object.keys(SERVERS).map((id) => rmSync(flagOf(id)));

let cluster: TestCluster;
beforeAll(async () => {
  const tables = Object.entries(SERVERS).map(([id, more]) => {
    const args = JSON.stringify([SERVER, flagOf(id)]);
    return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n${more}\n`;
  });
  cluster = await startCluster({ servers: tables.join("") });
}, 60_000);
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type State = {
  readonly ready: unknown;
  readonly up: readonly string[];
  readonly troubles: unknown;
  readonly tools: number;
};

/** Whatever a process says of its servers, in all places in which it does. */
async function stateAt(place: number): Promise<State> {
  const read = async (path: string) => (await fetch(new URL(path, cluster.url(place)))).text();
  const { servers } = JSON.parse(await read("/readyz")) as { servers: unknown };
  const up = (await read("/metrics")).split("\n").filter((line) => line.startsWith("isthmus_server_up{"));
  const session = await openSession(cluster.url(place));
  const { messages } = await post(cluster.url(place), { id: 1, method: "tools/list" }, session);
  const { tools, _meta } = (messages.at(-1)?.result ?? { tools: [] }) as {
    tools: unknown[];
    _meta?: Record<string, object>;
  };
  const told = Object.entries(_meta?.["dev.isthmus/servers"] ?? {}) as [string, { status: string; message: string }][];
  const troubles = Object.fromEntries(told.map(([id, { status, message }]) => [id, { status, message }]));
  return { ready: servers, up: up.sort(), troubles, tools: tools.length };
}

const states = () => Promise.all(PLACES.map(stateAt));
const become = (isMeant: (state: State) => boolean) => eventually(states, (all) => all.every(isMeant), LONGEST_MS);

const isDown = ({ ready }: State) => JSON.stringify(ready) === '{"files":"unreachable","older":"unreachable"}';
const isUp = ({ ready, tools }: State) => JSON.stringify(ready) === '{"files":"ok","older":"ok"}' && tools > 0;

test("a server that cannot be started is down in every process, for the same reason", async () => {
  const [first, ...others] = await become(isDown);
  expect(first).toEqual({
    ready: { files: "unreachable", older: "unreachable" },
    up: ['isthmus_server_up{server="files"} 0', 'isthmus_server_up{server="older"} 0'],
    troubles: {
      files: { status: "unreachable", message: expect.stringContaining("exited with code 1") },
      older: { status: "unreachable", message: expect.stringContaining("exited with code 1") },
    },
    tools: 0,
  });
  expect(others).toEqual([first, first]);
});

test("it is up in every process when it can be started, and serves there what it declares", async () => {
  raise();
  const [first, ...others] = await become(isUp);
  expect(first?.troubles).toEqual({});
  expect(others).toEqual([first, first]);
  for (const place of PLACES) {
    for (const id of Object.keys(SERVERS)) {
      const { messages } = await post(cluster.url(place), toolCall(1, `${id}.greet`, { name: "Ada" }));
      expect(JSON.stringify(messages.at(-1))).toContain("Hello, Ada!");
    }
  }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
  const declared = PLACES.map(async (place) => {
    const { messages } = await post(cluster.url(place, "files"), { id: 1, method: "initialize", params });
    return messages.at(-1)?.result;
  });
  const [here, ...there] = await Promise.all(declared);
  expect(there).toEqual([here, here]);
}, 60_000);

test("it is down in every process when it has ended, and its tools are still shown", async () => {
  lower();
  const [first, ...others] = await become(isDown);
  expect(first?.tools).toBeGreaterThan(0);
  expect(others).toEqual([first, first]);
  raise();
  await become(isUp);
  expect(await states()).toEqual(PLACES.map(() => expect.objectContaining({ troubles: {} })));
}, 60_000);
