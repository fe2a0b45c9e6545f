/**
 * Keeps a call waiting until somebody has said yes to it. It holds no slot meanwhile, and its time runs from then on. A caller
 * that cannot wait so long is told what to wait for, and makes the same call again.
 */
import {
  type Approval,
  type Call,
  changedCall,
  GatewayError,
  type HeldCharges,
  isEnough,
  type Next,
  type Out,
  type Payload,
  payload,
  type Stage,
  type StagedRun,
  textOf,
} from "../contract/index.ts";
import {
  type Approvals,
  confirmationRequired,
  confirmUrl,
  type Decider,
  type Gate,
  type GateFacts,
  type PageToVisit,
  pageToVisit,
  stricter,
} from "../mechanisms/approvals/index.ts";
import { Hold, type HoldOptions, isAnswer } from "./approve-hold.ts";
import { formQuestion, isConfirmed, OwnQuestion, opensForms, opensPages } from "./approve-questions.ts";
import { askForVisit, type Visited } from "./approve-visit.ts";

export type ApproveOptions = HoldOptions & {
  readonly approvals: Approvals;
  readonly decider: Decider;
  /** Whether clients that open pages are asked to open the one on which the call is decided. */
  readonly asksForVisits: () => boolean;
  readonly facts: () => Promise<GateFacts>;
  /** Why a call that was let in may not be made any more: much may have changed while it was held. */
  readonly refusal: (call: Call) => GatewayError | undefined;
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
  readonly #hold: Hold;

  constructor(options: ApproveOptions, call: Call, out: Out) {
    this.#options = options;
    this.#call = call;
    this.#out = out;
    this.#hold = new Hold(options, call, out);
  }

  async run(tool: string, gate: Gate, next: Next): Promise<void> {
    const leave = this.#options.approvals.held.enter(this.#call.principal);
    let call: Call;
    try {
      call = await this.#released(tool, gate);
    } finally {
      leave();
    }
    await next(call, this.#out);
  }

  /** The call as it is to be made now, with the yes for it used up. */
  async #released(tool: string, gate: Gate): Promise<Call> {
    const { approvals } = this.#options;
    const { principal, target, input } = this.#call;
    const asked = await approvals.request({ principal, target, tool, input, gate });
    const { approval, page } = await this.#decided(asked);
    if (approval?.state === "waiting") throw await this.#undecided(approval, page);
    if (approval?.state !== "approved") throw refusalOf(approval);
    return await approvals.inTurn(approval, (present) => this.#use(present));
  }

  async #use(approval: Approval | undefined): Promise<Call> {
    const { approvals, clock, refusal, charges } = this.#options;
    if (approval?.state !== "approved") throw refusalOf(approval);
    if (this.#call.signal.aborted) throw await this.#givenUp(approval);
    const call = changedCall(this.#call, { input: this.#inputOf(approval) });
    const refused = refusal(call);
    if (refused) {
      await approvals.revoke(approval, "its caller may not make the call any more");
      throw refused;
    }
    await charges?.()?.take(call);
    if (!(await approvals.consume(approval, call.id))) throw refusalOf(await approvals.get(approval.id));
    return changedCall(call, { deadline: clock.now() + this.#hold.timeMs });
  }

  async #undecided(approval: Approval, page: PageToVisit | undefined): Promise<GatewayError> {
    const { approvals, facts } = this.#options;
    return approvals.isOver(approval) ? refusalOf(undefined) : confirmationRequired(approval, await facts(), page);
  }

  /** The approval as soon as somebody has decided, or as it is when the caller is kept waiting no longer. */
  async #decided(asked: Approval): Promise<Visited> {
    if (asked.state !== "waiting") return { approval: asked };
    try {
      return await this.#wait(asked);
    } catch (error) {
      throw this.#call.signal.aborted ? await this.#givenUp(asked) : error;
    }
  }

  async #wait(asked: Approval): Promise<Visited> {
    const { run } = this.#call;
    if (run && isEnough("session_user", asked.evidence) && opensForms(this.#call, asked)) {
      return { approval: await this.#askUser(asked, run) };
    }
    const page = await this.#pageOf(asked);
    if (!run || !page) return { approval: await this.#hold.wait(asked, this.#hold.patienceMs(asked)) };
    const { approvals, now } = this.#options;
    return await askForVisit(asked, page, {
      call: this.#call,
      run,
      out: this.#out,
      hold: this.#hold,
      approvals,
      now,
    });
  }

  /** Why. What the caller cancels is withdrawn; what the gateway breaks off goes on after its restart. */
  async #givenUp(approval: Approval): Promise<unknown> {
    const { reason } = this.#call.signal;
    if (!isByGateway(reason)) await this.#options.approvals.withdraw(approval);
    return reason;
  }

  /** Asks whoever sits before the client: where that is enough, their word decides. */
  async #askUser(asked: Approval, run: StagedRun): Promise<Approval | undefined> {
    const { watch, decider, approvals, now } = this.#options;
    const question = new OwnQuestion(run, this.#out, formQuestion(asked));
    try {
      const changed = (signal: AbortSignal) => watch.change(asked, asked.expiresAt - now(), signal);
      const first = await this.#hold.firstOf(question.put(), changed);
      if (!isAnswer(first)) {
        question.takeBack();
        return first;
      }
      if (first.outcome === "fault") return await this.#hold.wait(asked, this.#hold.patienceMs(asked));
      await decider.decideInSession(this.#call.principal, asked, isConfirmed(first.payload) ? "approve" : "deny");
      return await approvals.get(asked.id);
    } finally {
      question.close();
    }
  }

  /** The page that the user before the client can be asked to open. */
  async #pageOf(asked: Approval): Promise<PageToVisit | undefined> {
    if (!opensPages(this.#call) || !this.#options.asksForVisits()) return undefined;
    const url = confirmUrl(asked, await this.#options.facts());
    return url === undefined ? undefined : pageToVisit(asked, url);
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
