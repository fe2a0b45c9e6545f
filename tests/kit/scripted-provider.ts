import {
  type Call,
  type CallEvent,
  type CallReply,
  type Host,
  jsonText,
  type Out,
  type Provider,
  payload,
} from "../../src/contract/index.ts";

/** A call inside a scripted provider: the test says what happens to it. */
export type ScriptedCall = {
  readonly call: Call;
  readonly replies: CallReply[];
  write(event: CallEvent): boolean;
  /** The provider's promise resolves. */
  settle(): void;
  /** The provider's promise rejects. */
  crash(error: unknown): void;
};

/** A provider of some tools whose calls do nothing until the test says so. */
export class ScriptedProvider implements Provider {
  readonly id: string;
  readonly calls = new Map<string, ScriptedCall>();
  readonly #tools: readonly string[];
  host: Host | undefined;

  constructor(id: string, tools: readonly string[]) {
    this.id = id;
    this.#tools = tools;
  }

  async open(host: Host): Promise<void> {
    this.host = host;
    void host.offer("shared", [{ kind: "tool", primitives: this.#tools.map((name) => toolNamed(name)), extras: "" }]);
    host.state({ status: "ok", about: { capabilities: payload('{"tools":{}}') } });
  }

  run = (call: Call, out: Out): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.calls.set(call.id, { call, replies: [], write: (event) => out.write(event), settle: resolve, crash: reject });
    return promise;
  };

  reply(callId: string, reply: CallReply): void {
    this.calls.get(callId)?.replies.push(reply);
  }

  scope: Provider["scope"] = async () => "shared";
  notify(): void {}
  upstreamCount = () => 0;
  release(): void {}
  async close(): Promise<void> {}
}

export function toolNamed(name: string, options: { repeatable?: boolean } = {}) {
  const definition = payload(`{"name":${jsonText(name)},"inputSchema":{"type":"object"}}`);
  return { kind: "tool", name, definition, repeatable: options.repeatable ?? false } as const;
}
