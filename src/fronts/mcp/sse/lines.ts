/**
 * Streams of 2024 as the other processes see them. Such a session lives and dies with its stream, so nobody takes it over;
 * but its client's messages may come to any process.
 */
import { faultPoint, GatewayError, type Member, type Principal, type Timer } from "../../../contract/index.ts";
import type { FrontCluster, FrontContext } from "../front-context.ts";

const TTL_MS = 24 * 3_600_000;
const ID = /^[0-9a-f-]{36}$/;

type Line = { readonly principal: string; readonly catalog: string };

export class Lines {
  readonly #front: FrontContext;
  readonly #cluster: FrontCluster;
  readonly #timers = new Map<string, Timer>();

  constructor(front: FrontContext, cluster: FrontCluster) {
    this.#front = front;
    this.#cluster = cluster;
  }

  /** Resolves when other processes can find the stream: its client may be told. Rejects with STATE_UNAVAILABLE. */
  async keep(id: string, principal: Principal, catalog: string): Promise<void> {
    const by = this.#cluster.member();
    const line: Line = { principal: principal.id, catalog };
    const value = JSON.stringify(line);
    faultPoint("front.line.before");
    const entry = await this.#cluster.state.entries.claim(keyOf(id), by, { value, ttlMs: TTL_MS });
    faultPoint("front.line.after");
    if (entry?.owner !== by) throw new GatewayError("STATE_UNAVAILABLE");
    this.#renewLater(id, by);
  }

  #renewLater(id: string, by: string): void {
    const renew = () => {
      this.#renewLater(id, by);
      this.#cluster.state.entries.touch(keyOf(id), by, TTL_MS).catch(() => undefined);
    };
    this.#timers.set(id, this.#front.timers.after(TTL_MS / 2, renew));
  }

  drop(id: string): void {
    const timer = this.#timers.get(id);
    if (!timer) return;
    timer.cancel();
    this.#timers.delete(id);
    this.#cluster.state.entries.drop(keyOf(id), this.#cluster.member()).catch(() => undefined);
  }

  /** The process that has the stream; undefined where there is none, or it is somebody else's. */
  async find(id: string, principal: Principal, catalog: string): Promise<Member | undefined> {
    if (!ID.test(id)) return undefined;
    const entry = await this.#cluster.state.entries.get(keyOf(id));
    if (!entry?.home || entry.home.id === this.#cluster.member()) return undefined;
    const line = JSON.parse(entry.value) as Line;
    return line.catalog === catalog && line.principal === principal.id ? entry.home : undefined;
  }
}

function keyOf(id: string): string {
  return `line:${id}`;
}
