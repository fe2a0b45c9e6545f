/** What an operator sees who comes without the link to a call: which calls wait. It decides nothing. */
import { hasRole, type Principal } from "../../contract/index.ts";
import type { ApprovalDesk } from "../../mechanisms/approvals/index.ts";
import { escapeHtml, escapeVisibly } from "../../wire/pages/index.ts";
import { NOT_AN_OPERATOR, type PageFacts, signForm, timeLeft } from "./approval-page.ts";
import { isProved } from "./sign-in.ts";

/** Rejects with STATE_UNAVAILABLE. */
export async function waitingBody(
  desk: Pick<ApprovalDesk, "waiting">,
  { visitor, check, signIn }: Omit<PageFacts, "url">,
): Promise<string> {
  return [...(await listFor(desk, visitor)), ...signForm({ visitor, check, signIn })].join("\n");
}

async function listFor(desk: Pick<ApprovalDesk, "waiting">, visitor: Principal): Promise<string[]> {
  if (!isProved(visitor)) return ["<p>Operators see here which calls wait for a yes.</p>"];
  if (!hasRole(visitor, "operator")) return [`<p>${NOT_AN_OPERATOR}</p>`];
  const { calls, more } = await desk.waiting(visitor);
  if (calls.length === 0) return ["<p>Nothing waits for a yes.</p>"];
  const items = calls.map(
    ({ tool, caller, url, beginning, hasMore, expiresInMs }) =>
      `<li><a href="${escapeHtml(url)}">${escapeVisibly(tool)}</a> for ${escapeVisibly(caller)}, ends ${timeLeft(expiresInMs)}
<br><code>${escapeVisibly(beginning)}${hasMore ? "…" : ""}</code></li>`,
  );
  return [`<ul>${items.join("\n")}</ul>`, ...moreText(more)];
}

function moreText(more: number): string[] {
  if (more === 0) return [];
  return [
    `<p>${more} more wait. <code>isthmus approvals</code> lists them, and with <code>--user NAME</code> those of one caller.</p>`,
  ];
}
