/** What somebody sees who is asked about a call: all that they decide by, and the ways in which they can. */
import { evidenceText, identityOf, NOBODY_THERE, type Principal, reasonText } from "../../contract/index.ts";
import type { Decided, Visit, WordProblem } from "../../mechanisms/approvals/index.ts";
import { escapeHtml, escapeVisibly } from "../../wire/pages/index.ts";
import { isProved } from "./sign-in.ts";

/** What people type to see a token that they can sign in with. `own`: whoever runs the gateway, theirs. Unset: nothing does. */
export type TokenCommands = { readonly own?: string; readonly others?: string };

/** `problem`: why nobody is known by the token that was just sent. */
export type SignInFacts = { readonly commands: TokenCommands; readonly problem?: string | undefined };

/** `url`: where the page itself is. `check`: shows that a form is of this very page. */
export type PageFacts = {
  readonly url: string;
  readonly check: string;
  readonly visitor: Principal;
  /** Unset: people cannot say here who they are. */
  readonly signIn?: SignInFacts | undefined;
};

export const NOT_AN_OPERATOR =
  "You are known, but not as an operator: your token does not have the role <code>operator</code>.";

/** Why the visitor's own word is no yes, and what would make it one. As HTML. */
const PROBLEMS: Readonly<Record<WordProblem, string>> = {
  not_proved: "The word of an operator counts, and this gateway does not know you as one.",
  not_an_operator: NOT_AN_OPERATOR,
  made_by_requester: "Whoever asks for this has made your token, or could have: somebody else must do it.",
  own_principal: "Nobody approves what they ask for themselves: somebody else must do it.",
  evidence_too_weak:
    "Only a signed proof is a yes to this call. Operators can decide here where the config has " +
    '<code>evidence = "operator"</code> under <code>[gate]</code> (or in the rule that wants this yes).',
};

export function pageBody(visit: Visit, facts: PageFacts): string {
  return [
    descriptionOf(visit),
    ...wordForm(visit, facts),
    ...wordProblem(visit, facts),
    ...signForm(facts),
    ...proofForm(visit, facts),
  ].join("\n");
}

function descriptionOf({ approval, input }: Visit): string {
  const { principal, user, tenant } = approval.requester;
  const lines: readonly (readonly [string, string])[] = [
    ["Tool", escapeVisibly(approval.tool)],
    ...(approval.called_as === undefined ? [] : [["Called as", escapeVisibly(approval.called_as)] as const]),
    ["Route", approval.route.map(escapeVisibly).join(" &rsaquo; ")],
    ["Server", escapeVisibly(approval.server)],
    ["Arguments", input("page", inputHtml)],
    ["SHA-256 of what is sent", `<code>${escapeVisibly(approval.args_sha256)}</code>`],
    ["Asked for by", `${escapeVisibly(user === "" ? principal : user)} of ${escapeVisibly(tenant)}`],
    ...(approval.caller_connection === "closed" ? [["Its connection", escapeHtml(NOBODY_THERE)] as const] : []),
    ["Why it waits", escapeVisibly(reasonText(approval.reason))],
    ["Needs", escapeVisibly(evidenceText(approval.evidence, approval.proof_types.length > 0))],
    ["Expires", escapeVisibly(`${timeLeft(approval.expires_in_ms)} (${approval.expires_at})`)],
    ["Confirmation", `<code>${escapeVisibly(approval.confirmation_id)}</code>`],
    ["Gateway", `<code>${escapeVisibly(approval.gate_aggregator_id)}</code>`],
  ];
  return `<dl>${lines.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join("\n")}</dl>`;
}

const MINUTE_MS = 60_000;

/** As the page was made: it does not count by itself. */
export function timeLeft(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 1) return "in less than a minute";
  return minutes === 1 ? "in about a minute" : `in about ${minutes} minutes`;
}

/** What stands in the place of the arguments, and what was sent beside them behind it. */
function inputHtml({ given, also }: Decided): string {
  const more = also === undefined ? "" : `</dd>\n<dt>Also sent</dt><dd><pre>${escapeVisibly(also)}</pre>`;
  return `<pre>${escapeVisibly(given)}</pre>${more}`;
}

function wordForm({ may }: Visit, { check }: PageFacts): string[] {
  if (!may.approve && !may.deny) return [];
  const buttons = [may.deny ? DENY : "", may.approve ? APPROVE : ""].join(" ");
  return [`<h2>Decide as yourself</h2><form method="post">${hidden("check", check)}${buttons}</form>`];
}

function wordProblem({ problem, approval }: Visit, { visitor }: PageFacts): string[] {
  if (problem === undefined) return [];
  // Whoever is not known has not been told yet whether their word would count.
  const isUnknown = !isProved(visitor);
  const told =
    isUnknown && approval.evidence === "external_proof" ? "evidence_too_weak" : isUnknown ? "not_proved" : problem;
  return [`<p>${PROBLEMS[told]}</p>`];
}

/** For whoever may be more than they have said so far, or is signed in. */
export function signForm({ visitor, check, signIn }: Omit<PageFacts, "url">): string[] {
  if (!signIn) return [];
  const { commands, problem } = signIn;
  const told = problem === undefined ? "" : `<p class="wrong" role="alert">${escapeHtml(problem)}</p>`;
  if (isProved(visitor)) {
    const { user, tenant } = identityOf(visitor);
    const who = `${escapeVisibly(user === "" ? visitor.id : user)} of ${escapeVisibly(tenant)}`;
    const signOut = '<button class="plain" name="sign" value="out">Sign out</button>';
    return [
      `${told}<form method="post">${hidden("check", check)}<p>You are signed in as ${who}. ${signOut}</p></form>`,
    ];
  }
  // The form may stand below much else: with the focus browsers show it, and what is wrong above it.
  const focus = problem === undefined ? "" : " autofocus";
  return [
    `<h2>Sign in</h2>${told}<form method="post">${hidden("check", check)}
<p><label>Token of an operator <input name="token" type="password" maxlength="8192" autocomplete="off" required${focus}></label>
<button name="sign" value="in">Sign in</button></p></form>${tokenHint(commands)}`,
  ];
}

function tokenHint({ own, others }: TokenCommands): string {
  const hints = [
    ...(own === undefined ? [] : [`If you run this gateway, <code>${escapeHtml(own)}</code> prints yours.`]),
    ...(others === undefined ? [] : [`For others <code>${escapeHtml(others)}</code> makes one.`]),
  ];
  return hints.length === 0 ? "" : `<p>${hints.join("\n")}</p>`;
}

function proofForm({ approval }: Visit, { url, check }: PageFacts): string[] {
  const [first, ...others] = approval.proof_types;
  // Where the word of somebody counts, nobody need hear of keys.
  if (first === undefined) return approval.evidence === "external_proof" ? [NO_ANCHORS] : [];
  const type =
    others.length === 0
      ? hidden("type", first)
      : `<p><label>Signed by <select name="type">${approval.proof_types.map(option).join("")}</select></label></p>`;
  const commands = ["approve", "deny"].map((verb) => escapeHtml(`isthmus ${verb} --print ${url}`)).join("\n");
  return [
    `<h2>Decide with a proof</h2><p>Whoever has the key makes one with one of these, and pastes what it prints:</p>
<pre>${commands}</pre><form method="post">${hidden("check", check)}${type}
<p><label>Proof<textarea name="proof" maxlength="8192" spellcheck="false" autocomplete="off" required></textarea></label></p>
${DENY} ${APPROVE}</form>`,
  ];
}

const NO_ANCHORS =
  "<p>No key is trusted to sign proofs: <code>[[gate.anchors]]</code> is empty " +
  "(<code>isthmus operator init</code> prints what to write there).</p>";

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}

/** The first one is where Tab leads, and what Enter presses: that is never a yes, though the other stands out. */
const DENY = '<button name="decision" value="deny">Deny</button>';
const APPROVE = '<button class="primary" name="decision" value="approve">Approve</button>';

function option(type: string): string {
  return `<option>${escapeHtml(type)}</option>`;
}
