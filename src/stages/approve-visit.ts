/**
 * Asks the user before a client to open the page on which a call is decided. That somebody opens it decides nothing: the call
 * waits for what is said there, as it would without having asked.
 */
import {
  type Approval,
  type Call,
  GatewayError,
  jsonText,
  type Out,
  payload,
  type StagedRun,
} from "../contract/index.ts";
import type { Approvals, PageToVisit } from "../mechanisms/approvals/index.ts";
import { type Hold, isAnswer } from "./approve-hold.ts";
import { isAccepted, OwnQuestion, visitQuestion } from "./approve-questions.ts";

export type VisitOptions = {
  readonly call: Call;
  readonly run: StagedRun;
  readonly out: Out;
  readonly hold: Hold;
  readonly approvals: Approvals;
  readonly now: () => number;
};

/** `page`: what the caller must open by itself, because nothing can be asked in the middle of its call. */
export type Visited = { readonly approval: Approval | undefined; readonly page?: PageToVisit };

/** Rejects with NOT_ALLOWED where the user does not want to. */
export async function askForVisit(asked: Approval, page: PageToVisit, options: VisitOptions): Promise<Visited> {
  const { call, run, out, hold, approvals, now } = options;
  // A client without a session goes away with the question, and waits anew when it comes back with the answer.
  const isAway = call.session?.isUnnamed === true;
  const since = now();
  const question = new OwnQuestion(run, out, visitQuestion(page));
  try {
    const ms = isAway ? asked.expiresAt - since : hold.patienceMs(asked);
    const first = await hold.firstOf(question.put(), (signal) => hold.wait(asked, ms, signal));
    if (!isAnswer(first)) {
      question.takeBack();
      return { approval: completed(first, page, out) };
    }
    if (first.outcome === "fault") return await holdUnasked(asked, page, options);
    if (!isAccepted(first.payload)) throw await declined(asked, approvals);
    const waitedMs = isAway || call.mayDefer ? 0 : now() - since;
    return { approval: completed(await hold.wait(asked, hold.patienceMs(asked) - waitedMs), page, out) };
  } finally {
    question.close();
  }
}

/** Tells a client whose page is still open that nothing is decided there any more. */
function completed(approval: Approval | undefined, { elicitationId }: PageToVisit, out: Out): Approval | undefined {
  if (approval?.state === "waiting") return approval;
  const complete = payload(jsonText({ elicitationId }));
  out.write({ type: "notice", method: "notifications/elicitation/complete", payload: complete });
  return approval;
}

/** At once for the call that is the first to wait: its user needs the page. One that joins has it, and is kept waiting. */
async function holdUnasked(asked: Approval, page: PageToVisit, { call, hold, now }: VisitOptions): Promise<Visited> {
  if (call.mayDefer) return { approval: await hold.wait(asked, hold.patienceMs(asked)) };
  const isFirst = now() - asked.createdAt < FIRST_MS;
  return { approval: isFirst ? asked : await hold.wait(asked, hold.patienceMs(asked)), page };
}

/** Nobody opens a page, decides there and calls again in so short a time. */
const FIRST_MS = 1_000;

/** Whoever does not want to see what would be done does not want it done. */
async function declined(asked: Approval, approvals: Approvals): Promise<GatewayError> {
  await approvals.withdraw(asked);
  const message = `The call was withdrawn: the page of approval ${asked.id} was not opened. Call again to ask anew.`;
  return new GatewayError("NOT_ALLOWED", { message, details: { mayRepeat: true } });
}
