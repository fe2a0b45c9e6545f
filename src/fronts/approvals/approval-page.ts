/** What somebody sees who is asked about a call: all that they decide by, and the ways in which they can. */
import { evidenceText, identityOf, type Principal, reasonText } from "../../contract/index.ts";
import type { Decided, Visit, WordProblem } from "../../mechanisms/approvals/index.ts";
import { escapeHtml, escapeVisibly } from "../../wire/pages/index.ts";
import { isProved } from "./sign-in.ts";

/** `url`: where the page itself is. `check`: shows that a form is of this very page. */
export type PageFacts = {
  readonly url: string;
  readonly check: string;
  readonly visitor: Principal;
  /** Whether people can say here who they are. */
  readonly canSignIn: boolean;
};

export const NOT_AN_OPERATOR =
  "You are known, but not as an operator: your token has not the role <code>operator</code>.";

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
    ["Why it waits", escapeVisibly(reasonText(approval.reason))],
    ["Needs", escapeVisibly(evidenceText(approval.evidence, approval.proof_types.length > 0))],
    ["Expires", escapeVisibly(approval.expires_at)],
    ["Confirmation", `<code>${escapeVisibly(approval.confirmation_id)}</code>`],
    ["Gateway", `<code>${escapeVisibly(approval.gate_aggregator_id)}</code>`],
  ];
  return `<dl>${lines.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join("\n")}</dl>`;
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
export function signForm({ visitor, check, canSignIn }: Omit<PageFacts, "url">): string[] {
  if (!canSignIn) return [];
  if (isProved(visitor)) {
    const { user } = identityOf(visitor);
    const who = escapeVisibly(user === "" ? visitor.id : user);
    return [`<form method="post">${hidden("check", check)}<p>You are ${who}. ${sign("out", "Sign out")}</p></form>`];
  }
  return [
    `<h2>Sign in</h2><form method="post">${hidden("check", check)}
<p><label>Token of an operator <input name="token" type="password" maxlength="8192" autocomplete="off" required></label>
${sign("in", "Sign in")}</p></form>
<p>If you run this gateway, <code>isthmus operator token</code> prints yours. For others
<code>isthmus token create --user NAME --role operator</code> makes one.</p>`,
  ];
}

function sign(way: "in" | "out", label: string): string {
  return `<button name="sign" value="${way}">${label}</button>`;
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

function button(decision: string, label: string): string {
  return `<button name="decision" value="${decision}">${label}</button>`;
}

/** The first one is where Tab leads, and what Enter presses: that is never a yes. */
const DENY = button("deny", "Deny");
const APPROVE = button("approve", "Approve");

function option(type: string): string {
  return `<option>${escapeHtml(type)}</option>`;
}
