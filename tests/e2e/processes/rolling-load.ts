/** Clients of both eras that call without a pause and take nothing but the right answer. */
import { setTimeout as wait } from "node:timers/promises";
import { Exchanger, type Got } from "../../chaos/clients/exchange.ts";

const PREFIX = "io.modelcontextprotocol/";
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

type Counted = { readonly mark: string; readonly session: string; readonly count: number };

export class RollingLoad {
  /** Whatever was not the right answer. */
  readonly failures: string[] = [];
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
      const said = this.#judge(
        mark,
        await exchanger.send(posted(session, { id: number, method: "tools/call", params })),
      );
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
      this.#judge(mark, await exchanger.send(posted(headers, { id: number, method: "tools/call", params })));
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

  #judge(mark: string, { status, text, isCut }: Got): Counted | undefined {
    this.calls++;
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
