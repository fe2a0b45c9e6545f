import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { CalmClient, GuardedPool } from "./postgres-pool.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Says `words` to whoever connects, as far as a server of PostgreSQL would, and keeps the sockets for the test to cut. */
async function server(words?: Buffer) {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    if (words) socket.once("data", () => socket.write(words));
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  const pool = (connectMs: number) => {
    const url = `postgres://nobody@127.0.0.1:${port}/none`;
    const made = new pg.Pool({ connectionString: url, connectionTimeoutMillis: connectMs, Client: CalmClient });
    return new GuardedPool(made, () => undefined);
  };
  return { sockets, pool };
}

/** AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from("5200000008000000005a0000000549", "hex");

// An error that nobody hears ends the run of the tests: vitest reports it as an unhandled one.
describe("a reset that nobody waits for", () => {
  test("while a connection is being made only fails the making", async () => {
    const { sockets, pool } = await server();
    const connecting = pool(100).connect();
    await expect(connecting).rejects.toThrow("timeout");
    for (const socket of sockets) socket.resetAndDestroy();
    await wait(50);
  });

  test("between two questions of whoever has the connection fails the next one", async () => {
    const { sockets, pool } = await server(WELCOME);
    const client = await pool(2_000).connect();
    for (const socket of sockets) socket.resetAndDestroy();
    await wait(50);
    await expect(client.query("select 1", [])).rejects.toThrow();
    client.release();
  });
});
