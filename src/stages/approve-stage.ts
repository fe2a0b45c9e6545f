/**
 * Keeps a call waiting until somebody has said yes to it. It holds no slot meanwhile, and its time runs from then on. A caller
 * that cannot wait so long is told what to wait for, and makes the same call again.
 */
import {
  type Approval,
  type Call,
  changedCall,
  type Decision,
  decodeString,
  GATEWAY_NAME,
  GatewayError,
  type HeldCharges,
  isEnough,
  type Next,
  type Out,
  type Payload,
  payload,
  reasonText,
  type Stage,
  type StagedRun,
  type Target,
  textOf,
  unambiguousAt,
} from "../contract/index.ts";
import {
  type Approvals,
  confirmationRequired,
  confirmUrl,
  DEFINITION_CHANGED,
  type Decider,
  definitionPrint,
  deniedText,
  type FindOffered,
  type Gate,
  type GateFacts,
  hasOtherApprovers,
  heldText,
  isSameDefinition,
  nobodyCanApprove,
  type PageToVisit,
  POLICY_CHANGED,
  pageToVisit,
  stricter,
  writtenPrint,
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
  /** Hears of every call that waits for somebody. */
  readonly onWait?: (call: Call, approval: Approval) => void;
  /** Why a call that was let in may not be made any more: much may have changed while it was held. */
  readonly refusal: (call: Call) => GatewayError | undefined;
  readonly offered: FindOffered;
  /**
   * Which signatures count now, and where calls of this server go: as another text, a yes that was used is none. The rest of the policy
   * is asked for whenever a call is judged, by which a call that has its yes may go on under other rules.
   */
  readonly groundsOf: (server: string) => string;
  /** The name that rules have for it: it is what people decide about, whatever it is called by. */
  readonly dottedOf: (target: Target) => string;
  /** Takes what a call takes that is made; unset: nothing is counted. */
  readonly charges?: () => HeldCharges | undefined;
  /** Whether the gateway itself tells servers in which trace a call is: then that is none of its caller's words. */
  readonly isTraced?: boolean | undefined;
};

/** For one tool. `calledAs`: by what name; unset: nobody knows. `gate`: what it declares; without one only calls wait of which access says so. */
export function approveStage(options: ApproveOptions, calledAs: string | undefined, gate: Gate | undefined): Stage {
  return function approve(call, out, next) {
    const needed = gateBefore(call, gate);
    if (!needed) return next(call, out);
    return new HeldCall(options, call, out).run(calledAs, needed, next);
  };
}

/** What a call waits for; undefined: nothing. */
export function gateBefore(call: Call, gate: Gate | undefined): Gate | undefined {
  return neededBy(call, gate, call.confirm);
}

/** What holds for a call now. `tool`: the name that rules have for it. `gate`: what it declares. `confirm`: what access wants. */
type PresentNeeds = {
  readonly tool: string;
  readonly gate: Gate | undefined;
  readonly confirm: Decision | undefined;
};

/**
 * Why a call that came in may not be sent now; undefined: it may. A yes may be wanted that was not when it came, or a stronger one;
 * one that it has used is not asked for twice.
 */
export function missingYes(call: Call, { tool, gate, confirm }: PresentNeeds): GatewayError | undefined {
  const needed = neededBy(call, gate, confirm);
  if (!needed || (call.approvedBy !== undefined && isEnough(call.approvedBy, needed.evidence))) return undefined;
  return notSent(tool, `somebody must approve it by now: ${reasonText(needed.reason)}`);
}

/** Nothing waits for a yes yet: a repeat asks for one. `what`: of the tool, for people. */
function notSent(tool: string, why: string, what = "was not called while it waited, and"): GatewayError {
  const message = `confirmation_required: ${tool} ${what} ${why}. Call again to ask for an approval.`;
  return new GatewayError("CONFIRMATION_REQUIRED", { message });
}

function neededBy(call: Call, gate: Gate | undefined, confirm: Decision | undefined): Gate | undefined {
  // What speaks about a call that was made makes none; what another process sends has waited there.
  if (call.resumes !== undefined || call.session?.isPeer) return undefined;
  // What a tool declares is about calls of it.
  const declared = call.verb === "call" || call.verb === "raw" ? gate : undefined;
  const needed = stricter(declared, confirm);
  return needed?.evidence === "none" ? undefined : needed;
}

/** What a yes was worth when a call used it. */
type UsedYes = {
  readonly approval: Approval;
  /** What the tool said of itself, as `writtenPrint` has it. */
  readonly written: string;
  readonly grounds: string;
};

/** Of a call that was sent, and lost with its server. */
const LOST =
  "was called, but its server was lost, so that nobody knows whether it was done. It was not called once more:";

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

  async run(calledAs: string | undefined, gate: Gate, next: Next): Promise<void> {
    const leave = this.#options.approvals.held.enter(this.#call.principal);
    let call: Call;
    try {
      call = await this.#released(calledAs, gate);
    } finally {
      leave();
    }
    await next(call, this.#out);
  }

  /** The call as it is to be made now, with the yes for it used up. */
  async #released(calledAs: string | undefined, gate: Gate): Promise<Call> {
    const ask = () => this.#ask(calledAs, gate);
    const asked = await ask();
    const { approval, page } = await this.#decided(asked);
    if (approval?.state === "waiting") throw await this.#undecided(approval, page);
    if (approval?.state === "withdrawn" && this.#isOther(asked)) throw await this.#undecided(await ask());
    if (approval?.state !== "approved") throw refusalOf(approval);
    return await this.#options.approvals.inTurn(approval, (present) => this.#use(present, ask));
  }

  async #ask(calledAs: string | undefined, gate: Gate): Promise<Approval> {
    const { principal, target } = this.#call;
    const [input, requester, definition] = [this.#askedFor(), this.#requester(), this.#definition()];
    const { approvals, onWait, dottedOf } = this.#options;
    const named = { tool: dottedOf(target), calledAs };
    const asked = await approvals.request({ principal, target, ...named, input, gate, requester, definition });
    if (asked.state === "waiting") onWait?.(this.#call, asked);
    return asked;
  }

  /** A gateway that does not say whom it calls for may call for anybody: then a yes is to this very call. */
  #requester(): string | undefined {
    const { id, origin, session } = this.#call;
    if (origin.requester !== undefined || !session || session.isUnnamed) return origin.requester;
    return decodeString(unambiguousAt(session.clientInfo, ["name"])) === GATEWAY_NAME ? id : undefined;
  }

  #definition(): string {
    const { target, session } = this.#call;
    return definitionPrint(this.#options.offered(target, session));
  }

  #written(): string {
    const { target, session } = this.#call;
    return writtenPrint(this.#options.offered(target, session));
  }

  /** The tool says something else of itself than when somebody was asked about it. */
  #isOther({ definition }: Approval): boolean {
    return !isSameDefinition(definition, this.#definition());
  }

  /** `ask`: asks anew. */
  async #use(approval: Approval | undefined, ask: () => Promise<Approval>): Promise<Call> {
    const { approvals, clock, refusal, charges, groundsOf } = this.#options;
    if (approval?.state !== "approved") throw refusalOf(approval);
    const written = this.#written();
    const worthless = await approvals.worthlessBecause(approval, this.#definition());
    if (worthless !== undefined) {
      await approvals.revoke(approval, worthless);
      throw await this.#undecided(await ask());
    }
    if (this.#call.signal.aborted) throw await this.#givenUp(approval);
    const call = changedCall(this.#call, { input: this.#inputOf(approval) });
    const refused = refusal(call);
    if (refused) {
      await approvals.revoke(approval, "its caller may not make the call any more");
      throw refused;
    }
    await charges?.()?.take(call);
    const used = { approval, written, grounds: groundsOf(approval.server) };
    if (!(await approvals.consume(approval, call.id))) throw refusalOf(await approvals.get(approval.id));
    // Writing that down takes its time.
    const why = this.#changedSince(used);
    if (why !== undefined) throw this.#notSent(approval, why);
    const { run } = this.#call;
    if (run) run.beforeSending = () => this.#overtaken(used);
    return changedCall(call, { deadline: clock.now() + this.#hold.timeMs, approvedBy: approval.given });
  }

  /** Why the yes that it has used is worth nothing by the time at which it would be sent; undefined: it is. */
  async #overtaken(used: UsedYes): Promise<GatewayError | undefined> {
    const { approval } = used;
    // The definition with our flags was compared when the yes was used: they change with [gate].
    const worthless = await this.#options.approvals.worthlessBecause(approval, approval.definition);
    const why = worthless ?? this.#changedSince(used);
    return why === undefined ? undefined : this.#notSent(approval, why);
  }

  #changedSince({ approval, written, grounds }: UsedYes): string | undefined {
    if (!isSameDefinition(written, this.#written())) return DEFINITION_CHANGED;
    return grounds === this.#options.groundsOf(approval.server) ? undefined : POLICY_CHANGED;
  }

  #notSent({ tool }: Approval, why: string): GatewayError {
    const wasSent = (this.#call.timing?.sentAt ?? 0) > 0;
    return notSent(tool, `its approval does not hold any more: ${why}`, wasSent ? LOST : undefined);
  }

  async #undecided(approval: Approval, page?: PageToVisit): Promise<GatewayError> {
    const { approvals, facts } = this.#options;
    if (approval.state === "denied") return refusalOf(approval);
    if (approvals.isOver(approval)) return refusalOf(undefined);
    return confirmationRequired(approval, await facts(), { decided: approvals.inputs.of(approval), page });
  }

  /** The approval as soon as somebody has decided, or as it is when the caller is kept waiting no longer. */
  async #decided(asked: Approval): Promise<Visited> {
    if (asked.state !== "waiting") return { approval: asked };
    this.#hold.words = heldText(asked, await this.#options.facts(), this.#hold.patienceMs(asked));
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
    if (!run || !page) return { approval: await this.#waitForOthers(asked) };
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

  /** The client's user has no say: somebody else decides, where anybody else is there. */
  async #waitForOthers(asked: Approval): Promise<Approval | undefined> {
    const { approvals, facts } = this.#options;
    const known = await facts();
    if (hasOtherApprovers(known)) return await this.#hold.wait(asked, this.#hold.patienceMs(asked));
    await approvals.revoke(asked, "nobody can approve here");
    throw nobodyCanApprove(asked, known);
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
      const changed = (signal: AbortSignal) => watch.change(asked, asked.expiresAt - now(), this.#hold.waiting(signal));
      const first = await this.#hold.firstOf(question.put(), changed);
      if (!isAnswer(first)) {
        question.takeBack();
        return first;
      }
      if (first.outcome === "fault") return await this.#waitForOthers(asked);
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

  /** What somebody is asked about. */
  #askedFor(): Payload {
    const { input } = this.#call;
    return this.#options.isTraced ? input.splice(TRACE_PATH) : input;
  }

  /** What was approved, byte for byte; only progress and our own trace go to where this call wants them. */
  #inputOf({ input }: Approval): Payload {
    const present = this.#call.input;
    const approved = textOf(input);
    if (approved === present.text) return present;
    const stored = carried(payload(approved), present, TOKEN_PATH);
    return this.#options.isTraced ? carried(stored, present, TRACE_PATH) : stored;
  }
}

const TOKEN_PATH = ["_meta", "progressToken"] as const;
const TRACE_PATH = ["_meta", "traceparent"] as const;

/** What was approved, with this member as the present call has it. */
function carried(approved: Payload, present: Payload, path: readonly string[]): Payload {
  const member = present.at(path);
  return member !== undefined || approved.at(path) !== undefined ? approved.splice(path, member) : approved;
}

function isByGateway(reason: unknown): boolean {
  return GatewayError.is(reason) && reason.details.by === "gateway";
}

/** Nobody has said no: whether to ask again is up to the caller. */
const ASKS_ANEW = { mayRepeat: true };

/** Why an approval that is over lets nothing through. */
function refusalOf(approval: Approval | undefined): GatewayError {
  const id = approval?.id ?? "";
  switch (approval?.state) {
    case "denied":
      return new GatewayError("NOT_ALLOWED", { message: deniedText(approval) });
    case "expired":
    case undefined:
      return new GatewayError("NOT_ALLOWED", {
        message: "Nobody approved the call in time; call again to ask anew.",
        details: ASKS_ANEW,
      });
    case "withdrawn":
      return new GatewayError("NOT_ALLOWED", {
        message: `The call was withdrawn (approval ${id}); call again to ask anew.`,
        details: ASKS_ANEW,
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
