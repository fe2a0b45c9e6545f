/** How a call on a server of 2026-07-28 ends, and what becomes of that end for callers of the 2025 era. */
import { type Answer, decodeString, GatewayError, type Payload, payload } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { legacyToolResult, stripResult } from "../../../wire/mcp/bridge/index.ts";
import { CALL_ROUTES } from "../../../wire/mcp/index.ts";
import { spokenBy } from "../home-facts.ts";
import type { RunningCall } from "../running-call.ts";
import { driveModernTask, type ModernTask } from "../tasks/modern-task.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { within } from "../within.ts";
import { InputRounds } from "./input-rounds.ts";
import { isModern } from "./modern-side.ts";

/** How long a call waits for a list: the server may have been listed so often that it has to wait for its turn. */
const RELIST_MS = 5_000;
const HEADER_MISMATCH = "-32020";
const MISSING_CAPABILITY = "-32021";
const UNSUPPORTED_VERSION = "-32022";
const UNKNOWN_METHOD = "-32601";
const INVALID_PARAMS = "-32602";
const ASKING_METHODS: readonly string[] = ["tools/call", "prompts/get", "resources/read"];

export class ModernCall {
  readonly #running: RunningCall;
  #rounds: InputRounds | undefined;
  #task: ModernTask | undefined;
  #wasRepeated = false;

  constructor(running: RunningCall) {
    this.#running = running;
  }

  /** The answer to what was sent last. Throws JsonFault. */
  onEnd(message: Message, session: UpstreamSession): void {
    const { call } = this.#running;
    if (message.outcome === "fault") return this.#onFault(message, session);
    const type = decodeString(message.members?.textOf("resultType")) ?? "complete";
    if (type === "input_required" && ASKING_METHODS.includes(call.method)) this.#onInputRequired(message, session);
    else if (type === "task") this.#onTask(message, session);
    else if (type === "complete" || isModern(call)) this.#endResult(message.body, session);
    else this.#fail("The server's answer is of a kind that the client does not know.");
  }

  /** Whatever the server says about its task, the client hears only how the call goes on. */
  #onTask({ members }: Message, session: UpstreamSession): void {
    const { call } = this.#running;
    if (!call.mayDefer || call.method !== "tools/call")
      return this.#fail("The server made a task of a call whose client knows none.");
    this.#task = driveModernTask(this.#running, session, members, {
      onResult: (result) => this.#endResult(result, session),
      onFault: (fault) => this.#endFault(fault),
    });
  }

  #endResult(result: Payload, session: UpstreamSession): void {
    this.#endWith(isModern(this.#running.call) ? result : this.#legacy(result, session));
  }

  #endFault(fault: Payload): void {
    const { call } = this.#running;
    if (isModern(call)) this.#running.endWith(fault, "fault");
    else if (fault.at(["code"]) === MISSING_CAPABILITY) this.#fail(describeMissing(fault));
    else this.#endWith(legacyFault(fault, call.method), "fault");
  }

  #onInputRequired(message: Message, session: UpstreamSession): void {
    const { call } = this.#running;
    const isCallers = isModern(call) && !session.context.taskTools.mayOutlast(call, session);
    if (isCallers) return this.#running.endWith(message.body, "input");
    this.#rounds ??= new InputRounds(this.#running, session, (params) => {
      this.#running.params = params;
      this.#wasRepeated = false;
      void this.#repeat(session);
    });
    this.#rounds.begin(message, session);
  }

  onAnswer(answer: Answer): void {
    this.#rounds?.onAnswer(answer);
    this.#task?.onAnswer(answer);
  }

  #legacy(body: Payload, session: UpstreamSession): Payload {
    const result = stripResult(body);
    if (this.#running.call.method !== "tools/call" || !spokenBy(session).isModern) return result;
    return legacyToolResult(result, session.modern?.tools.of(this.#running.call.target.name).isWrapped === true);
  }

  #onFault(message: Message, session: UpstreamSession): void {
    const { call } = this.#running;
    const code = message.members?.textOf("code") ?? "";
    const mayRepeat = !this.#wasRepeated;
    if (mayRepeat && code === HEADER_MISMATCH) void this.#relist(session);
    else if (mayRepeat && code === UNSUPPORTED_VERSION) void this.#askAgain(session, undefined);
    else if (mayRepeat && code === UNKNOWN_METHOD && Object.hasOwn(CALL_ROUTES, call.method))
      void this.#askAgain(session, message.body);
    // Headers and version are the gateway's own: whoever made the call can do nothing about them.
    else if (code === HEADER_MISMATCH || code === UNSUPPORTED_VERSION)
      this.#fail(`The server refused the gateway's request (code ${code}).`);
    else this.#endFault(message.body);
  }

  /** Its tools have changed since they were listed. */
  async #relist(session: UpstreamSession): Promise<void> {
    this.#wasRepeated = true;
    const { timers } = session.context;
    await within(timers, RELIST_MS, session.context.relist(["tool"]));
    await this.#repeat(session);
  }

  /** Perhaps the server does not speak this era any more. `fault`: what the call ends with if it does. */
  async #askAgain(session: UpstreamSession, fault: Payload | undefined): Promise<void> {
    this.#wasRepeated = true;
    const isKnown = await session.isKnown();
    if (isKnown && fault) this.#endWith(fault, "fault");
    else await this.#repeat(session, !isKnown);
  }

  async #repeat(session: UpstreamSession, isGone = session.isOver): Promise<void> {
    try {
      this.#running.resend(isGone ? await session.context.renew(session) : session);
    } catch (error) {
      this.#running.fail(GatewayError.from(error));
    }
  }

  #endWith(body: Payload, outcome: "result" | "fault" = "result"): void {
    this.#rounds?.end();
    this.#running.endWith(body, outcome);
  }

  #fail(message: string): void {
    this.#running.fail(new GatewayError("PROVIDER_FAILED", { message }));
  }

  /** The call is over. Safe to call twice. */
  stop(): void {
    this.#rounds?.stop();
  }
}

/** A missing resource has a code of its own in the 2025 era. */
function legacyFault(fault: Payload, method: string): Payload {
  if (method !== "resources/read" || fault.at(["code"]) !== INVALID_PARAMS) return fault;
  return fault.at(["data", "uri"]) === undefined ? fault : fault.splice(["code"], "-32002");
}

function describeMissing(fault: Payload): string {
  const data = Object(payload(fault.at(["data"]) ?? "{}").value()) as { requiredCapabilities?: unknown };
  const names = Object.entries(Object(data.requiredCapabilities)).flatMap(([name, value]) => {
    const parts = Object.keys(Object(value));
    return parts.length === 0 ? [name] : parts.map((part) => `${name}.${part}`);
  });
  return `The server needs what the client has not declared: ${names.join(", ").slice(0, 200) || "a capability"}.`;
}
