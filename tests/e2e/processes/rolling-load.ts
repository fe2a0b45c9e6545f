/** Clients of both eras that call without a pause and take nothing but the right answer. */
import { setTimeout as wait } from "node:timers/promises";
import { Exchanger, type Got } from "../../chaos/clients/exchange.ts";
import type { Span } from "./balancer-watch.ts";

const PREFIX = "io.modelcontextprotocol/";
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

type Counted = { readonly mark: string; readonly session: string; readonly count: number };

/** Answered by nginx alone: as it saw it, nobody behind it did. */
type Lost = Span & { readonly mark: string };

export class RollingLoad {
  /** Whatever was not the right answer, but for what is in `lost`. */
  readonly failures: string[] = [];
  readonly lost: Lost[] = [];
  calls = 0;
  readonly #url: string;
  readonly #loops: Promise<void>[] = [];
  #isOver = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** A client with a session. `counts`: its server counts its calls, one after the other, without a gap. */
  async addSession(name: string, tool: string, counts: boolean): Promise<void> {
    const exchanger = new Exchanger(this.#url);
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name, version: "1.0.0" } };
    const opened = await exchanger.send(posted({}, { id: 0, method: "initialize", params }));
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]), "mcp-protocol-version": LEGACY };
    await exchanger.send(posted(session, { method: "notifications/initialized" }));
    let last: Counted | undefined;
    this.#loop(exchanger, async (number) => {
      const mark = `${name}-${number}`;
      const params = { name: tool, arguments: { mark, ms: number % 4 === 0 ? 300 : 20 } };
      const from = performance.now();
      const got = await exchanger.send(posted(session, { id: number, method: "tools/call", params }));
      const said = this.#judge(mark, from, got);
      if (!counts || !said) return;
      if (last && (said.session !== last.session || said.count !== last.count + 1))
        this.failures.push(`${mark}: after ${JSON.stringify(last)} came ${JSON.stringify(said)}`);
      last = said;
    });
  }

  addModern(name: string, tool: string): void {
    const exchanger = new Exchanger(this.#url);
    const _meta = {
      [`${PREFIX}protocolVersion`]: MODERN,
      [`${PREFIX}clientInfo`]: { name, version: "1.0.0" },
      [`${PREFIX}clientCapabilities`]: {},
    };
    const headers = { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool };
    this.#loop(exchanger, async (number) => {
      const mark = `${name}-${number}`;
      const params = { name: tool, arguments: { mark, ms: number % 4 === 0 ? 300 : 20 }, _meta };
      const from = performance.now();
      this.#judge(mark, from, await exchanger.send(posted(headers, { id: number, method: "tools/call", params })));
    });
  }

  #loop(exchanger: Exchanger, once: (number: number) => Promise<void>): void {
    const run = async () => {
      for (let number = 1; !this.#isOver; number++) {
        await once(number);
        await wait(10);
      }
      exchanger.close();
    };
    this.#loops.push(run());
  }

  #judge(mark: string, from: number, { status, text, isCut }: Got): Counted | undefined {
    this.calls++;
    if (status === 502 && text.includes("<center>nginx")) {
      this.lost.push({ mark, from, until: performance.now() });
      return undefined;
    }
    const said = /\{\\"mark\\":.*?\}/.exec(text)?.[0].replaceAll('\\"', '"');
    const counted = said === undefined ? undefined : (JSON.parse(said) as Counted);
    if (status === 200 && !isCut && counted?.mark === mark) return counted;
    this.failures.push(`${mark}: ${isCut ? "cut " : ""}${status} ${text.slice(0, 300)}`);
    return undefined;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }
}

function posted(headers: Readonly<Record<string, string>>, message: object) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const accept = "application/json, text/event-stream";
  return { method: "POST" as const, headers: { "content-type": "application/json", accept, ...headers }, body };
}
