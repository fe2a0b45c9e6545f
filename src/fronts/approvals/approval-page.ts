/** What somebody sees who is asked about a call: all that they decide by, and the ways in which they can. */
import type { Visit } from "../../mechanisms/approvals/index.ts";
import { escapeHtml, escapeVisibly } from "../../wire/pages/index.ts";

const NEEDED: Readonly<Record<string, string>> = {
  external_proof: "a proof, signed with a key that this gateway trusts",
  operator: "the word of an operator, or a proof that is signed with a key which this gateway trusts",
  session_user: "the word of the user before the client or of an operator, or a signed proof",
};

/** `url`: where the page itself is. `check`: shows that a form is of this very page. */
export type PageFacts = { readonly url: string; readonly check: string };

export function pageBody(visit: Visit, facts: PageFacts): string {
  return [descriptionOf(visit), ...wordForm(visit, facts), ...proofForm(visit, facts)].join("\n");
}

function descriptionOf({ approval }: Visit): string {
  const { principal, user, tenant } = approval.requester;
  const lines: readonly (readonly [string, string])[] = [
    ["Tool", escapeVisibly(approval.tool)],
    ["Route", approval.route.map(escapeVisibly).join(" &rsaquo; ")],
    ["Server", escapeVisibly(approval.server)],
    ["Arguments", `<pre>${escapeVisibly(approval.arguments_text)}</pre>`],
    ["SHA-256 of the arguments", `<code>${escapeVisibly(approval.args_sha256)}</code>`],
    ["Asked for by", `${escapeVisibly(user === "" ? principal : user)} of ${escapeVisibly(tenant)}`],
    ["Why it waits", escapeVisibly(approval.reason)],
    ["Needs", escapeHtml(NEEDED[approval.evidence] ?? approval.evidence)],
    ["Expires", escapeVisibly(approval.expires_at)],
    ["Confirmation", `<code>${escapeVisibly(approval.confirmation_id)}</code>`],
    ["Gateway", `<code>${escapeVisibly(approval.gate_aggregator_id)}</code>`],
  ];
  return `<dl>${lines.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join("\n")}</dl>`;
}

function wordForm({ may }: Visit, { check }: PageFacts): string[] {
  if (!may.approve && !may.deny) return [];
  const buttons = [may.approve ? button("approve", "Approve") : "", may.deny ? button("deny", "Deny") : ""].join(" ");
  return [`<h2>Decide as yourself</h2><form method="post">${hidden("check", check)}${buttons}</form>`];
}

function proofForm({ approval }: Visit, { url, check }: PageFacts): string[] {
  const [first, ...others] = approval.proof_types;
  if (first === undefined) return ["<p>No key is trusted to sign proofs: <code>[[gate.anchors]]</code> is empty.</p>"];
  const type =
    others.length === 0
      ? hidden("type", first)
      : `<p><label>Signed by <select name="type">${approval.proof_types.map(option).join("")}</select></label></p>`;
  const commands = ["approve", "deny"].map((verb) => escapeHtml(`isthmus ${verb} --print ${url}`)).join("\n");
  return [
    `<h2>Decide with a proof</h2><p>Whoever has the key makes one with one of these, and pastes what it prints:</p>
<pre>${commands}</pre><form method="post">${hidden("check", check)}${type}
<p><label>Proof<textarea name="proof" maxlength="8192" spellcheck="false" autocomplete="off" required></textarea></label></p>
${button("approve", "Approve")} ${button("deny", "Deny")}</form>`,
  ];
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}

function button(decision: string, label: string): string {
  return `<button name="decision" value="${decision}">${label}</button>`;
}

function option(type: string): string {
  return `<option>${escapeHtml(type)}</option>`;
}
