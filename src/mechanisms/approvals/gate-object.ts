/** What a caller is told about a call that waits: MCP-AX's object, as data. */
import {
  type Approval,
  approverAdvice,
  type CallerConnection,
  type Evidence,
  GatewayError,
  type Payload,
  unambiguousAt,
} from "../../contract/index.ts";
import type { ProofType } from "./anchors.ts";
import { type Decided, decidedText } from "./decided-text.ts";
import { pageName } from "./page-name.ts";

export type GateFacts = {
  readonly gateway: string;
  readonly proofTypes: readonly ProofType[];
  readonly now: number;
  /** Where people reach the pages of this gateway, without a slash at the end; unset: nowhere. */
  readonly pages?: string | undefined;
  /** Nobody reaches this gateway beside its one client: a yes comes through that one or not at all. */
  readonly isAlone?: boolean;
  /** Whether anybody is trusted to give this evidence; unset: somebody is. */
  readonly canBeSaid?: (evidence: Evidence) => boolean;
  /** Whether the caller of one that waits is there; unset: nobody knows. */
  readonly connectionOf?: (id: string) => CallerConnection | undefined;
  /** What people type for a verb of the program, at this gateway; unset: it is installed, and finds it. */
  readonly commandFor?: (verb: string) => string;
};

/** The page on which this one is decided; undefined where there is none. */
export function confirmUrl(
  approval: Pick<Approval, "id" | "nonce">,
  { pages }: Partial<GateFacts>,
): string | undefined {
  return pages === undefined ? undefined : `${pages}/approvals/${pageName(approval)}`;
}

/** What whoever runs the gateway must write before anybody can say yes; undefined: somebody can. */
export function missingApprovers({ evidence }: Approval, { canBeSaid }: Partial<GateFacts>): string | undefined {
  return (canBeSaid?.(evidence) ?? true) ? undefined : approverAdvice(evidence);
}

/** But for what is decided about, which may be long. */
function gateFacts(approval: Approval, facts: GateFacts) {
  const { gateway, proofTypes, now } = facts;
  const url = confirmUrl(approval, facts);
  const missing = missingApprovers(approval, facts);
  return {
    status: "confirmation_required",
    confirmation_id: approval.id,
    tool: approval.tool,
    ...(approval.calledAs !== "" && { called_as: approval.calledAs }),
    capability: JSON.parse(approval.capability) as unknown,
    route: approval.tool.split("."),
    gate_aggregator_id: gateway,
    reason: approval.reason,
    args_sha256: approval.digest,
    nonce: approval.nonce,
    expires_at: isoOf(approval.expiresAt),
    expires_in_ms: Math.max(0, approval.expiresAt - now),
    proof_types: proofTypes,
    ...(url !== undefined && { confirm_url: url }),
    ...(missing !== undefined && { nobody_can_approve: missing }),
  };
}

/** What is called, in a sentence: its own name, which is what is approved, and the one that the caller knows. */
export function toolText({ tool, calledAs }: Pick<Approval, "tool" | "calledAs">): string {
  return calledAs === "" ? tool : `${tool} (called as ${calledAs})`;
}

/** Numbers are as JavaScript reads them: people are shown the text. No key stands in it twice: such a call is not approved. */
function inputValues({ given, also }: Decided) {
  return {
    arguments: JSON.parse(given) as unknown,
    ...(also !== undefined && { also_sent: JSON.parse(also) as unknown }),
  };
}

/** Whether a result says that the call waits for somebody's yes at a gateway behind us: it was not made. */
export function waitsBelow(result: Payload): boolean {
  const isWaiting = unambiguousAt(result, ["_meta", "x-mcpax-gate", "status"]) === '"confirmation_required"';
  return isWaiting && unambiguousAt(result, ["isError"]) === "true";
}

/** An approval with the page on which it is decided, as a client is asked to open it. */
export type PageToVisit = { readonly message: string; readonly elicitationId: string; readonly url: string };

export function pageToVisit(approval: Approval, url: string): PageToVisit {
  const { id } = approval;
  const message = `${toolText(approval)} needs somebody's approval before it is called. Open this page to see what it would do, and to decide.`;
  return { message, elicitationId: id, url };
}

/** As many characters of an id as `isthmus approve` needs to find it among a few. */
const SHORT_ID = 4;

/** For whoever reads what a caller is told when it is kept waiting no longer: where the yes is given. */
function waitText(approval: Approval, facts: GateFacts): string {
  return placeText(approval, facts, { alone: "; then call again.", typed: ", then call again." });
}

/** Within less nobody says yes who has to read first what for. */
const MIN_HELD_MS = 5_000;

/** The same while the caller is kept waiting: whoever stops the call now to make it again takes it back. */
export function heldText(approval: Approval, facts: GateFacts, heldMs: number): string {
  if (heldMs < MIN_HELD_MS) return waitText(approval, facts);
  const goesOn = "; this call then goes on by itself.";
  return placeText(approval, facts, { alone: goesOn, typed: ` in another terminal${goesOn}` });
}

/** What stands behind the way to say yes: a client's own, and the command that people type. */
type Endings = { readonly alone: string; readonly typed: string };

function placeText(approval: Approval, facts: GateFacts, endings: Endings): string {
  if (facts.isAlone) return `Waits for a signed yes, which the client brings with mcpax/confirm${endings.alone}`;
  const missing = missingApprovers(approval, facts);
  if (missing !== undefined) return `Waits for a yes that nobody here can give. Whoever runs the gateway: ${missing}.`;
  const url = confirmUrl(approval, facts);
  const page = url === undefined ? "" : `open ${url} or `;
  const command = typed(`approve ${approval.id.slice(0, SHORT_ID)}`, facts);
  return `Waits for a yes: ${page}run "${command}"${endings.typed}`;
}

function typed(verb: string, { commandFor }: GateFacts): string {
  return commandFor?.(verb) ?? `isthmus ${verb}`;
}

/** For a caller that was told no, now or a while ago. */
export function deniedText({ id, decidedBy, expiresAt }: Approval): string {
  // Of principals that have a token the user stands in their id.
  const [, user] = /^token:[^/]*\/(.+)\/[^/]+$/.exec(decidedBy) ?? [];
  return `Denied by ${user ?? decidedBy} (approval ${id}). Nobody is asked about the same call again before ${isoOf(expiresAt)}.`;
}

/** Whether a yes can come from anybody but the user whom the client asks. */
export function hasOtherApprovers({ isAlone, proofTypes }: GateFacts): boolean {
  return !isAlone || proofTypes.length > 0;
}

/** The error for a call that would wait for nothing. */
export function nobodyCanApprove(approval: Approval, facts: GateFacts): GatewayError {
  const why = `${toolText(approval)} needs a yes, and nobody can give one here: this gateway serves one client alone, without a page.`;
  const [up, connect] = ["up", "import CLIENT --connect url"].map((verb) => typed(verb, facts));
  const instead = `Start "${up}" and connect to that one ("${connect}")`;
  return new GatewayError("NOT_ALLOWED", { message: `${why} ${instead}, or change [gate] in the config.` });
}

/** `page`: for a caller that must open it by itself. */
export type GateShown = { readonly decided: Decided; readonly page?: PageToVisit | undefined };

/** The error that a caller gets who was not kept waiting any longer. */
export function confirmationRequired(
  approval: Approval,
  facts: GateFacts,
  { decided, page }: GateShown = { decided: decidedText(approval) },
): GatewayError {
  const { expiresAt, id } = approval;
  const who = approval.evidence === "external_proof" ? "an external authority" : "an operator";
  const needed = `${toolText(approval)} needs approval by ${who} before ${isoOf(expiresAt)} (confirmation_id ${id}).`;
  const message = `confirmation_required: ${needed} ${waitText(approval, facts)}`;
  const gate = { ...gateFacts(approval, facts), ...inputValues(decided) };
  const details = { gate, ...(page && { visit: { mode: "url", ...page } }) };
  return new GatewayError("CONFIRMATION_REQUIRED", { message, details });
}

/** An approval as people and operators are shown it. */
export function shownApproval(approval: Approval, facts: GateFacts, decided: Decided = decidedText(approval)) {
  return { ...shownFacts(approval, facts), ...shownInput(decided) };
}

/** What is decided about, as they are shown it. */
export function shownInput(decided: Decided) {
  const { given, also } = decided;
  return {
    ...inputValues(decided),
    /** The very text that the digest is of: whoever decides is shown this one. */
    arguments_text: given,
    /** With it the digest is of `[arguments_text,also_sent_text]`. */
    ...(also !== undefined && { also_sent_text: also }),
  };
}

/** All that they are shown beside it. */
export function shownFacts(approval: Approval, facts: GateFacts) {
  const { tenant, principal, user, server, evidence, state, decidedBy, createdAt } = approval;
  const { status: _waiting, ...gate } = gateFacts(approval, facts);
  const connection = facts.connectionOf?.(approval.id);
  return {
    ...gate,
    ...(connection !== undefined && { caller_connection: connection }),
    state,
    server,
    requester: { principal, user, tenant },
    evidence,
    created_at: new Date(createdAt).toISOString(),
    decided_by: decidedBy,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}
