/** Clients of both eras that call all the time, each in its own manner, until they are told to stop. */
import { ModernClient } from "./clients/modern-client.ts";
import { SessionClient, type SessionClientOptions } from "./clients/session-client.ts";
import type { People } from "./governed/people.ts";
import { Tally } from "./outcome.ts";

export type Load = { readonly tally: Tally; stop(): Promise<void> };

/** Clients that can be asked get children of their own. */
const ASKABLE = { elicitation: {} };

/** Whose calls they are, where gateways ask. */
const CALLERS = ["ada", "bob", "ann"] as const;

/** Starts them; resolves when each has its session. */
export async function startLoad(origin: string, random: () => number, people?: People): Promise<Load> {
  let clientCount = 0;
  const nextCaller = () => people?.of(CALLERS[clientCount++ % CALLERS.length] ?? "ada");
  const url = `${origin}/mcp`;
  const tally = new Tally();
  let isOver = false;
  const loops: Promise<void>[] = [];
  const forever = (once: () => Promise<unknown>) => {
    loops.push(
      (async () => {
        while (!isOver) await once();
      })(),
    );
  };
  const session = async (name: string, more: Pick<SessionClientOptions, "kind"> & Partial<SessionClientOptions>) => {
    const client = new SessionClient({ name, url, tally, caller: nextCaller(), ...more });
    await client.open();
    return client;
  };
  const clients = await Promise.all([
    ...[1, 2, 3, 4].map(async (number) => {
      const client = await session(`http${number}`, { kind: "2025, HTTP server" });
      const watch = new Continuity(tally, client, "session");
      forever(async () => watch.see(await client.call(random() < 0.5 ? "legacy.add" : "legacy.echo")));
      return client;
    }),
    ...[1, 2].map(async (number) => {
      const client = await session(`stream${number}`, { kind: "2025, streams resumed", accept: "stream" });
      forever(() => client.call("legacy.slow", { ms: 100 + Math.floor(random() * 900) }));
      return client;
    }),
    ...[1, 2].map(async (number) => {
      const client = await session(`key${number}`, { kind: "2025, calls with keys", hasKeys: true });
      forever(() => client.call("legacy.slow", { ms: Math.floor(random() * 300) }));
      return client;
    }),
    ...[1, 2].map(async (number) => {
      const client = await session(`child${number}`, { kind: "2025, own child", capabilities: ASKABLE });
      const watch = new Continuity(tally, client, "pid");
      forever(async () => watch.see(await client.call("child.slow", { ms: Math.floor(random() * 100) })));
      return client;
    }),
  ]);
  for (const number of [1, 2]) {
    const client = new ModernClient({ name: `modern${number}`, kind: "2026, plain", url, tally, caller: nextCaller() });
    forever(() => client.call(random() < 0.5 ? "modern.add" : "modern.echo"));
    const keyed = new ModernClient({
      name: `modernkey${number}`,
      kind: "2026, calls with keys",
      url,
      tally,
      hasKeys: true,
      caller: nextCaller(),
    });
    forever(() => keyed.call("modern.slow", { ms: Math.floor(random() * 300) }));
    const tasks = new ModernClient({ name: `task${number}`, kind: "2026, tasks", url, tally, caller: nextCaller() });
    forever(() => tasks.task("modern.slow", { ms: 2_500 + Math.floor(random() * 1000) }));
  }
  return {
    tally,
    async stop() {
      isOver = true;
      await Promise.all(loops);
      for (const client of clients) await client.repeatAcknowledged();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/**
 * What a session's server counted must go on where it was. By `session`: the server's session is the same for the whole
 * run, whoever of us dies. By `pid`: as long as the child is the same one.
 */
class Continuity {
  readonly #tally: Tally;
  readonly #client: SessionClient;
  readonly #by: "session" | "pid";
  #last: { session: string; pid: number; count: number } | undefined;

  constructor(tally: Tally, client: SessionClient, by: "session" | "pid") {
    this.#tally = tally;
    this.#client = client;
    this.#by = by;
  }

  see({ said }: Awaited<ReturnType<SessionClient["call"]>>): void {
    if (!said) return;
    const last = this.#last;
    this.#last = said;
    const { name } = this.#client.options;
    if (!last) return;
    if (this.#by === "session" && last.session !== said.session)
      this.#tally.violate(`${name} was given another session of the server behind it`);
    if (last[this.#by] === said[this.#by] && said.count < last.count)
      this.#tally.violate(`${name} was counted back from ${last.count} to ${said.count}`);
  }
}
