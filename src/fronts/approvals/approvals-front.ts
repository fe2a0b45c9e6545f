/**
 * The page on which people decide about one call that waits: the `confirm_url` of MCP-AX. It decides nothing itself, but takes
 * what somebody says to where every other decision is made.
 */
import {
  type ConfirmAnswer,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  type Log,
  type NoteRefusal,
  textOf,
} from "../../contract/index.ts";
import type { ApprovalDesk, PageOrder } from "../../mechanisms/approvals/index.ts";
import {
  type BrowserCookie,
  browserIn,
  cookieLine,
  escapeVisibly,
  formCheck,
  isAskedAt,
  newBrowser,
  OWN_PAGE_LINES,
  page,
} from "../../wire/pages/index.ts";
import { pageBody } from "./approval-page.ts";

export type ApprovalsFrontOptions = {
  readonly desk: Pick<ApprovalDesk, "visit" | "decide" | "turnDown" | "pages">;
  readonly log: Log;
  /** Says what is wrong with a request, or nothing. */
  readonly gate: (request: HttpRequest) => string | undefined;
  /** Hears of what was turned away before anybody looked at it. */
  readonly refused?: NoteRefusal;
};

export type ApprovalsFront = (request: HttpRequest, response: HttpResponse) => void;

const COOKIE: BrowserCookie = { name: "isthmus_approval", path: "/approvals", seconds: 3600 };
const MAX_FORM = 16 * 1024;
const PREFIX = "/approvals/";
const FORM_TYPE = "application/x-www-form-urlencoded";
const JSON_LINES = "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

const OUTCOMES = {
  dispatched: "Approved: the caller was waiting, and the call was made.",
  approved: "Approved: the call is made when the caller makes it again.",
  denied: "Denied: the call is not made.",
} as const;

/** The same for what never was, is over, was decided, or is somebody else's. */
const NOTHING = "There is nothing to decide here. The link is wrong, its time is over, or somebody has decided.";
/** Why something was turned away, where there is no more to say. */
const REFUSED = "approval page";
const FOREIGN = "This form was not sent by this gateway's own page. Open the link again.";

export function createApprovalsFront({ desk, log, gate, refused }: ApprovalsFrontOptions): ApprovalsFront {
  function answer(response: HttpResponse, status: number, title: string, html: string, lines = ""): void {
    response.answer(status, OWN_PAGE_LINES + lines, textOf(page(title, html)));
  }

  function say(response: HttpResponse, status: number, title: string, text: string): void {
    answer(response, status, title, `<p>${escapeVisibly(text)}</p>`);
  }

  function fail(response: HttpResponse, cause: unknown): void {
    if (GatewayError.from(cause).code === "STATE_UNAVAILABLE") {
      return say(response, 503, "Not now", "The gateway cannot reach its store. Try again in a moment.");
    }
    log.error("page of an approval failed", { cause });
    say(response, 500, "This did not work", "The gateway failed; its log says why.");
  }

  async function show(request: HttpRequest, response: HttpResponse, name: string): Promise<void> {
    const visit = await desk.visit(request.principal, name);
    if (wantsJson(request)) {
      const body = visit ? visit.approval : { error: NOTHING };
      return response.answer(visit ? 200 : 404, JSON_LINES, textOf(JSON.stringify(body)));
    }
    if (!visit) return say(response, 404, "Nothing to decide", NOTHING);
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const url = visit.approval.confirm_url ?? request.url;
    const html = pageBody(visit, { url, check: formCheck(browser, name) });
    answer(response, 200, `Approve ${visit.approval.tool}?`, html, cookieLine(browser, url, COOKIE));
  }

  async function decide(request: HttpRequest, response: HttpResponse, name: string, text: string): Promise<void> {
    const form = new URLSearchParams(text);
    const foreign = foreignness(request, form, name);
    if (foreign !== undefined) {
      if (!(await desk.turnDown(request.principal, name, foreign))) note(request, foreign);
      return say(response, 403, "This did not work", FOREIGN);
    }
    const order = orderOf(form);
    if (!order) return turnAway(request, response, 400, "The form says neither yes nor no.");
    const said = await desk.decide(request.principal, name, order);
    if (said) return tell(response, said);
    note(request, REFUSED);
    say(response, 404, "Nothing to decide", NOTHING);
  }

  function tell(response: HttpResponse, said: ConfirmAnswer): void {
    if (said.type === "decided") return say(response, 200, "Done", `${OUTCOMES[said.status]} You can close this page.`);
    if (said.message !== "confirmation_proof_invalid") return say(response, 404, "Nothing to decide", NOTHING);
    say(response, 403, "This does not count", `The gateway refuses it: ${said.reason.replaceAll("_", " ")}.`);
  }

  function note({ principal, clientAddress: address, url: path }: HttpRequest, reason: string): void {
    refused?.({ reason, principal, address, path });
  }

  function turnAway(request: HttpRequest, response: HttpResponse, status: number, why: string, reason = REFUSED): void {
    note(request, reason);
    say(response, status, "This did not work", why);
  }

  return function handle(request, response) {
    const { pages } = desk;
    const wrong = pages !== undefined && isAskedAt(request, pages) ? undefined : gate(request);
    const name = (request.url.split("?", 1)[0] ?? "").slice(PREFIX.length);
    if (wrong === undefined && request.method === "POST" && isForm(request)) {
      return request.body(MAX_FORM, {
        onBody: (text) => void decide(request, response, name, text).catch((cause) => fail(response, cause)),
        onTooLarge: () => turnAway(request, response, 413, "This form is too large."),
      });
    }
    request.discard();
    if (wrong !== undefined) return turnAway(request, response, 403, `This ${wrong} is not allowed.`, wrong);
    if (request.method === "GET") return void show(request, response, name).catch((cause) => fail(response, cause));
    const status = request.method === "POST" ? 415 : 405;
    turnAway(request, response, status, "This page is only shown, or sent as a form.");
  };
}

/** What says that a form comes from elsewhere; undefined: it is of our own page, in the browser that was shown it. */
function foreignness(request: HttpRequest, form: URLSearchParams, name: string): string | undefined {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return "foreign_site";
  const browser = browserIn(request, COOKIE);
  return browser !== undefined && form.get("check") === formCheck(browser, name) ? undefined : "foreign_form";
}

function orderOf(form: URLSearchParams): PageOrder | undefined {
  const decision = form.get("decision");
  if (decision !== "approve" && decision !== "deny") return undefined;
  const proof = form.get("proof");
  if (proof === null) return { decision };
  // Terminals break long lines.
  const value = proof.replace(/\s+/g, "");
  return { decision, proof: { type: form.get("type") ?? "", format: "jws", value } };
}

function isForm({ headers }: HttpRequest): boolean {
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}

/** For whoever signs: a program that reads what it would sign. */
function wantsJson({ headers: { accept = "" } }: HttpRequest): boolean {
  return accept.includes("application/json") && !accept.includes("text/html");
}
