/**
 * Where somebody comes with the link to one call that waits: what they are shown, and what they may do. Whoever has the link
 * may look, because it cannot be guessed, nor made of what is on record; it decides nothing by itself.
 */
import {
  type Approval,
  type ConfirmAnswer,
  type ConfirmOrder,
  identityOf,
  type ListedApproval,
  MAX_LISTED_INPUT,
  type Principal,
  showUnseen,
} from "../../contract/index.ts";
import type { Approvals } from "./approvals.ts";
import type { Decider, WordProblem } from "./decide.ts";
import { type Decided, decidedText } from "./decided-text.ts";
import { confirmUrl, type GateFacts, shownFacts } from "./gate-object.ts";
import { idIn, isPageOf } from "./page-name.ts";

export type ApprovalDeskOptions = {
  readonly approvals: Approvals;
  readonly decider: Decider;
  readonly facts: () => Promise<GateFacts>;
  /** Where people reach the pages of this gateway, without a slash at the end; undefined: nowhere. */
  readonly pages: () => string | undefined;
};

export type Visit = {
  readonly approval: ReturnType<typeof shownFacts>;
  /** What is decided about, as the text that `make` makes of it: once for each use, however often somebody visits. */
  readonly input: (use: string, make: (decided: Decided) => string) => string;
  /** What this visitor may decide without a proof, by who they are. */
  readonly may: { readonly approve: boolean; readonly deny: boolean };
  /** Why they may not approve; undefined: they may. */
  readonly problem: WordProblem | undefined;
};

/** Of calls that wait, so many are shown. */
const MAX_WAITING = 20;
/** And of each, so many characters: enough to tell two of the same tool apart. The page of each has all of it. */
const MAX_BEGINNING = 80;

type WaitingCall = {
  readonly tool: string;
  /** Who asks: a user, else a principal. */
  readonly caller: string;
  /** Of its page. */
  readonly url: string;
  /** How what is decided about begins, in characters that can be seen, and whether there is more of it. */
  readonly beginning: string;
  readonly hasMore: boolean;
  readonly expiresInMs: number;
};

/** `more`: how many wait beside them. */
type WaitingCalls = { readonly calls: readonly WaitingCall[]; readonly more: number };

/** What somebody says on a page. */
export type PageOrder = Omit<ConfirmOrder, "id">;

export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  get pages(): string | undefined {
    return this.#options.pages();
  }

  /**
   * `name`: of the page, as the link has it. Undefined: there is nothing that this visitor could decide, for whatever reason.
   * Rejects with STATE_UNAVAILABLE.
   */
  async visit(principal: Principal, name: string): Promise<Visit | undefined> {
    const { approvals, decider, facts } = this.#options;
    const found = await this.#find(name);
    if (found?.state !== "waiting" || approvals.isOver(found)) return undefined;
    if (identityOf(visitorOf(principal, found)).tenant !== found.tenant) return undefined;
    const problem = decider.wordProblem(principal, found, "approve");
    const mayDeny = decider.wordProblem(principal, found, "deny") === undefined;
    const may = { approve: problem === undefined, deny: mayDeny };
    const input: Visit["input"] = (use, make) => approvals.inputs.as(use, found, make);
    return { approval: shownFacts(found, await facts()), input, may, problem };
  }

  /** Calls that wait in the tenant of this principal, of each caller the newest first. Rejects with STATE_UNAVAILABLE. */
  async waiting(principal: Principal): Promise<WaitingCalls> {
    const { approvals, facts } = this.#options;
    const { tenant } = identityOf(principal);
    const page = { tenant, state: "waiting", limit: MAX_WAITING, inTurns: true } as const;
    const [{ found, total }, gate] = await Promise.all([approvals.list(page), facts()]);
    const calls = found.flatMap((approval) => {
      const url = approvals.isOver(approval) ? undefined : confirmUrl(approval, gate);
      if (url === undefined) return [];
      const { tool, user, principal: asker, expiresAt } = approval;
      return [{ tool, caller: user || asker, url, ...beginningOf(approval), expiresInMs: expiresAt - gate.now }];
    });
    return { calls, more: total - found.length };
  }

  /**
   * By the proof that was brought, else by who has come. Undefined: somebody has come to nothing, of which nothing is put on
   * record here, because everybody can do that as often as they like. Rejects with STATE_UNAVAILABLE.
   */
  async decide(principal: Principal, name: string, order: PageOrder): Promise<ConfirmAnswer | undefined> {
    const { decider } = this.#options;
    const found = await this.#find(name);
    if (!found) return undefined;
    const visitor = visitorOf(principal, found);
    return order.proof
      ? await decider.confirm(visitor, { ...order, id: found.id })
      : await decider.decideAs(visitor, found.id, order.decision);
  }

  /** What was sent does not come from our own page. False: it was sent to nothing, as above. */
  async turnDown(principal: Principal, name: string, why: string): Promise<boolean> {
    const found = await this.#find(name);
    if (found) await this.#options.decider.turnDown(visitorOf(principal, found), found.id, why);
    return found !== undefined;
  }

  async #find(name: string): Promise<Approval | undefined> {
    const id = idIn(name);
    const found = id === undefined ? undefined : await this.#options.approvals.get(id);
    return found && isPageOf(found, name) ? found : undefined;
  }
}

/** Of params that are too long for a list, as they were sent: nobody can tell there what of them is arguments. */
function beginningOf({
  beginning,
  characters,
  ...approval
}: ListedApproval): Pick<WaitingCall, "beginning" | "hasMore"> {
  const isWhole = characters <= MAX_LISTED_INPUT;
  const { given, also } = isWhole ? decidedText({ ...approval, input: beginning }) : { given: beginning };
  const shown = [...showUnseen(also === undefined ? given : `${given} also sent: ${also}`)];
  return { beginning: shown.slice(0, MAX_BEGINNING).join(""), hasMore: !isWhole || shown.length > MAX_BEGINNING };
}

/** Somebody unknown comes for the tenant that the link is of; whoever is known sees what their own has asked for. */
function visitorOf(principal: Principal, { tenant }: Approval): Principal {
  const identity = identityOf(principal);
  return identity.proof === "none" ? { ...principal, identity: { ...identity, tenant } } : principal;
}
