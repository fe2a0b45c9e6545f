/**
 * Keeps a call waiting until somebody has said yes to it. It holds no slot meanwhile, and its time runs from then on. A caller
 * that cannot wait so long is told what to wait for, and makes the same call again.
 */
import {
  type Answer,
  type Approval,
  type Ask,
  type Call,
  type Clock,
  changedCall,
  GatewayError,
  type HeldCharges,
  isEnough,
  jsonText,
  type Next,
  type Out,
  type Payload,
  payload,
  type Stage,
  stringOf,
  type Timers,
  textOf,
} from "../contract/index.ts";
import {
  type Approvals,
  type ApprovalWatch,
  confirmationRequired,
  type Decider,
  type Gate,
  type GateFacts,
  stricter,
} from "../mechanisms/approvals/index.ts";

/** How often a caller that wants progress hears that the call still waits. */
const PROGRESS_MS = 10_000;
/** So little that whatever the tool reports is more. */
const PROGRESS_STEP = 1e-6;

export type ApproveOptions = {
  readonly approvals: Approvals;
  readonly decider: Decider;
  readonly watch: ApprovalWatch;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
  /** How long a caller is kept waiting. */
  readonly holdMs: () => number;
  readonly facts: () => Promise<GateFacts>;
  /** Takes what a call takes that is made; unset: nothing is counted. */
  readonly charges?: () => HeldCharges | undefined;
};

/** For one tool. `gate`: what it declares; without one only calls wait of which access says so. */
export function approveStage(options: ApproveOptions, tool: string | undefined, gate: Gate | undefined): Stage {
  return function approve(call, out, next) {
    const needed = gateBefore(call, gate);
    if (!needed) return next(call, out);
    const name = tool ?? `${call.target.provider}.${call.target.name}`;
    return new HeldCall(options, call, out).run(name, needed, next);
  };
}

/** What a call waits for; undefined: nothing. */
export function gateBefore(call: Call, gate: Gate | undefined): Gate | undefined {
  // What speaks about a call that was made makes none; what another process sends has waited there.
  if (call.resumes !== undefined || call.session?.isPeer) return undefined;
  // What a tool declares is about calls of it.
  const declared = call.verb === "call" || call.verb === "raw" ? gate : undefined;
  const needed = stricter(declared, call.confirm);
  return needed?.evidence === "none" ? undefined : needed;
}

class HeldCall {
  readonly #options: ApproveOptions;
  readonly #call: Call;
  readonly #out: Out;
  readonly #timeMs: number;
  #progress = 0;

  constructor(options: ApproveOptions, call: Call, out: Out) {
    this.#options = options;
    this.#call = call;
    this.#out = out;
    this.#timeMs = call.deadline - options.clock.now();
  }

  async run(tool: string, gate: Gate, next: Next): Promise<void> {
    const { approvals, clock } = this.#options;
    const { principal, target, input } = this.#call;
    const asked = await approvals.request({ principal, target, tool, input, gate });
    const approval = await this.#decided(asked);
    if (approval?.state === "waiting") throw confirmationRequired(approval, await this.#options.facts());
    if (approval?.state !== "approved") throw refusalOf(approval);
    if (this.#call.signal.aborted) throw await this.#givenUp(approval);
    await this.#options.charges?.()?.take(this.#call);
    if (!(await approvals.consume(approval, this.#call.id))) throw refusalOf(await approvals.get(approval.id));
    const changes = { input: this.#inputOf(approval), deadline: clock.now() + this.#timeMs };
    await next(changedCall(this.#call, changes), this.#out);
  }

  /** The approval as soon as somebody has decided, or as it is when the caller is kept waiting no longer. */
  async #decided(asked: Approval): Promise<Approval | undefined> {
    if (asked.state !== "waiting") return asked;
    try {
      const answered = await this.#askUser(asked);
      return answered?.state === "waiting" ? await this.#hold(answered) : answered;
    } catch (error) {
      throw this.#call.signal.aborted ? await this.#givenUp(asked) : error;
    }
  }

  /** Why. What the caller cancels is withdrawn; what the gateway breaks off goes on after its restart. */
  async #givenUp(approval: Approval): Promise<unknown> {
    const { reason } = this.#call.signal;
    if (!isByGateway(reason)) await this.#options.approvals.withdraw(approval);
    return reason;
  }

  async #hold(asked: Approval): Promise<Approval | undefined> {
    const { watch, timers, holdMs } = this.#options;
    const leftMs = asked.expiresAt - this.#options.now();
    const message = `Waits for approval ${asked.id}.`;
    const mayLast = this.#call.mayDefer === true;
    const keepMs = leftMs + this.#timeMs;
    this.#out.write({ type: "status", state: "input-required", message, ...(mayLast && { keepMs }) });
    const tell = () => {
      this.#out.write({ type: "progress", payload: payload(jsonText({ progress: this.#progress, message })) });
      this.#progress += PROGRESS_STEP;
      timer = timers.after(PROGRESS_MS, tell);
    };
    let timer = timers.after(0, tell);
    try {
      return await watch.change(asked, mayLast ? leftMs : Math.min(leftMs, holdMs()), this.#call.signal);
    } finally {
      timer.cancel();
    }
  }

  /** Asks whoever sits before the client, where that is enough and it can be asked. */
  async #askUser(asked: Approval): Promise<Approval | undefined> {
    const { run, principal, signal } = this.#call;
    if (!run || !isEnough("session_user", asked.evidence) || !canBeAsked(this.#call)) return asked;
    const ask = questionOf(asked);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    run.onAnswers = (answers) => {
      const mine = answers.find(({ key }) => key === ask.key);
      if (mine) resolve(mine);
    };
    const { watch, decider, approvals, now } = this.#options;
    const answered = new AbortController();
    const either = AbortSignal.any([signal, answered.signal]);
    try {
      this.#out.write({ type: "ask", asks: [ask] });
      const first = await Promise.race([promise, watch.change(asked, asked.expiresAt - now(), either)]);
      if (first === undefined || !("outcome" in first)) {
        this.#out.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key: ask.key });
        return first;
      }
      if (first.outcome === "fault") return asked;
      await decider.decideInSession(principal, asked, isConfirmed(first.payload) ? "approve" : "deny");
      return await approvals.get(asked.id);
    } finally {
      run.onAnswers = undefined;
      answered.abort();
    }
  }

  /** What was approved, byte for byte; only progress goes to where this call wants it. */
  #inputOf({ input }: Approval): Payload {
    const present = this.#call.input;
    const approved = textOf(input);
    if (approved === present.text) return present;
    const token = present.at(["_meta", "progressToken"]);
    const stored = payload(approved);
    const hasToken = token !== undefined || stored.at(["_meta", "progressToken"]) !== undefined;
    return hasToken ? stored.splice(["_meta", "progressToken"], token) : stored;
  }
}

function isByGateway(reason: unknown): boolean {
  return GatewayError.is(reason) && reason.details.by === "gateway";
}

/** Why an approval that is over lets nothing through. */
function refusalOf(approval: Approval | undefined): GatewayError {
  const id = approval?.id ?? "";
  switch (approval?.state) {
    case "denied":
      return new GatewayError("NOT_ALLOWED", { message: `The call was denied (approval ${id}).` });
    case "expired":
    case undefined:
      return new GatewayError("NOT_ALLOWED", { message: "Nobody approved the call in time; call again to ask anew." });
    case "withdrawn":
      return new GatewayError("NOT_ALLOWED", {
        message: `The call was withdrawn (approval ${id}); call again to ask anew.`,
      });
    case "consumed":
      return new GatewayError("CONFLICT", { message: `Another call has used approval ${id}; call again to ask anew.` });
    case "waiting":
    case "approved":
      return new GatewayError("CONFLICT", {
        message: "The policy has changed since the call was asked for; call again.",
      });
  }
}

function canBeAsked({ session }: Call): boolean {
  const elicitation = session?.capabilities.at(["elicitation"]);
  if (!elicitation?.startsWith("{")) return false;
  const modes = payload(elicitation);
  // A client that names no mode has the one that there was before there were two.
  return modes.at(["form"]) !== undefined || modes.at(["url"]) === undefined;
}

const SCHEMA = {
  type: "object",
  properties: { decision: { type: "string", title: "Decision", enum: ["confirm", "cancel"] } },
  required: ["decision"],
};

const MAX_SHOWN = 2_000;

function questionOf({ id, tool, input }: Approval): Ask {
  const shown = payload(textOf(input)).at(["arguments"]) ?? "{}";
  const text = stringOf(shown);
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  const message = `${tool} does something that may not be taken back. It would be called with: ${cut}`;
  const question = jsonText({ mode: "form", message, requestedSchema: SCHEMA });
  return { key: `approval ${id}`, kind: "elicit", method: "elicitation/create", input: payload(question) };
}

/** Only a plain yes is one. */
function isConfirmed(answer: Payload): boolean {
  return answer.at(["action"]) === '"accept"' && answer.at(["content", "decision"]) === '"confirm"';
}
