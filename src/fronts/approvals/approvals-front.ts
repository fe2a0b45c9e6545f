/**
 * The page on which people decide about one call that waits: the `confirm_url` of MCP-AX; and one that leads operators there. It decides nothing itself, but takes
 * what somebody says to where every other decision is made.
 */
import {
  ANONYMOUS,
  type ConfirmAnswer,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  headerLine,
  type Log,
  type NoteRefusal,
  type Principal,
  textOf,
} from "../../contract/index.ts";
import { type ApprovalDesk, type PageOrder, shownInput, type Visit } from "../../mechanisms/approvals/index.ts";
import {
  type BrowserCookie,
  browserIn,
  cookieLine,
  escapeHtml,
  escapeVisibly,
  formCheck,
  isAskedAt,
  isFromElsewhere,
  newBrowser,
  OWN_PAGE_LINES,
  page,
} from "../../wire/pages/index.ts";
import { pageBody } from "./approval-page.ts";
import type { SignIn } from "./sign-in.ts";
import { waitingBody } from "./waiting-page.ts";

export type ApprovalsFrontOptions = {
  readonly desk: Pick<ApprovalDesk, "visit" | "waiting" | "decide" | "turnDown" | "pages">;
  readonly log: Log;
  /** Says what is wrong with a request, or nothing. */
  readonly gate: (request: HttpRequest) => string | undefined;
  /** Hears of what was turned away before anybody looked at it. */
  readonly refused?: NoteRefusal;
  /** How people say who they are; unset: only by their requests. */
  readonly signIn?: SignIn;
};

export type ApprovalsFront = (request: HttpRequest, response: HttpResponse) => void;

const COOKIE: BrowserCookie = { name: "isthmus_approval", path: "/approvals", seconds: 3600 };
const MAX_FORM = 16 * 1024;
const PREFIX = "/approvals/";
/** The page that leads to the others: the name of none of them. */
const WAITING = "waiting";
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
const UNKNOWN_TOKEN = "The gateway does not know this token, or not any more.";
const CHANGED =
  "The tool has changed since somebody was asked about it. The call is not made; its caller is told to ask anew.";
const FOREIGN = "This form was not sent by this gateway's own page, or the page was open for too long.";

export function createApprovalsFront(options: ApprovalsFrontOptions): ApprovalsFront {
  const { desk, log, gate, refused, signIn } = options;

  function answer(response: HttpResponse, status: number, title: string, html: string, lines = ""): void {
    response.answer(status, OWN_PAGE_LINES + lines, textOf(page(title, html)));
  }

  /** `back`: a link to go on with. */
  function say(response: HttpResponse, status: number, title: string, text: string, back = ""): void {
    answer(response, status, title, `<p>${escapeVisibly(text)}</p>${back}`);
  }

  function fail(response: HttpResponse, cause: unknown): void {
    if (GatewayError.from(cause).code === "STATE_UNAVAILABLE") {
      return say(response, 503, "Not now", "The gateway cannot reach its store. Try again in a moment.");
    }
    log.error("page of an approval failed", { cause });
    say(response, 500, "This did not work", "The gateway failed; its log says why.");
  }

  async function visitorOf(request: HttpRequest): Promise<Principal> {
    return signIn ? await signIn.visitor(request, browserIn(request, COOKIE)) : request.principal;
  }

  async function showWaiting(request: HttpRequest, response: HttpResponse): Promise<void> {
    const visitor = await visitorOf(request);
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const html = await waitingBody(desk, { visitor, check: formCheck(browser, WAITING) });
    answer(response, 200, "Calls that wait", html, cookieLine(browser, desk.pages ?? request.url, COOKIE));
  }

  async function show(request: HttpRequest, response: HttpResponse, name: string): Promise<void> {
    if (name === WAITING && signIn && !wantsJson(request)) return await showWaiting(request, response);
    const visitor = await visitorOf(request);
    const visit = await desk.visit(visitor, name);
    if (wantsJson(request)) {
      const body = visit ? jsonOf(visit) : textOf(JSON.stringify({ error: NOTHING }));
      return response.answer(visit ? 200 : 404, JSON_LINES, body);
    }
    if (!visit) return say(response, 404, "Nothing to decide", NOTHING);
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const url = visit.approval.confirm_url ?? request.url;
    const html = pageBody(visit, { url, check: formCheck(browser, name), visitor, canSignIn: signIn !== undefined });
    answer(response, 200, `Approve ${visit.approval.tool}?`, html, cookieLine(browser, url, COOKIE));
  }

  async function decide(request: HttpRequest, response: HttpResponse, name: string, text: string): Promise<void> {
    const form = new URLSearchParams(text);
    const visitor = await visitorOf(request);
    const foreign = foreignness(request, form, name);
    if (foreign !== undefined) {
      if (!(await desk.turnDown(visitor, name, foreign))) note(request, foreign);
      return say(response, 403, "This did not work", FOREIGN, linkTo(name, "Open the page again"));
    }
    const way = form.get("sign");
    if (way !== null && signIn) return await sign(request, response, name, way === "in" ? form.get("token") : null);
    const order = orderOf(form);
    if (!order) return turnAway(request, response, 400, "The form says neither yes nor no.");
    const said = await desk.decide(visitor, name, order);
    if (said) return tell(response, said, name);
    note(request, REFUSED);
    say(response, 404, "Nothing to decide", NOTHING);
  }

  /** In with a token, out without. At a page that is not there no token is even looked at. */
  async function sign(request: HttpRequest, response: HttpResponse, name: string, token: string | null): Promise<void> {
    const browser = browserIn(request, COOKIE);
    const isThere = name === WAITING || (await desk.visit(ANONYMOUS, name)) !== undefined;
    if (!signIn || browser === undefined || !isThere) return say(response, 404, "Nothing to decide", NOTHING);
    const url = desk.pages ?? request.url;
    const line = token === null ? signIn.leave({ url }) : await signIn.lineFor(request, token.trim(), { url, browser });
    if (line === undefined) {
      note(request, "sign-in");
      return say(response, 403, "This did not work", UNKNOWN_TOKEN, linkTo(name, "Sign in with another one"));
    }
    response.answer(303, `${line}${headerLine("Location", PREFIX + name)}Cache-Control: no-store\r\n`, "");
  }

  function tell(response: HttpResponse, said: ConfirmAnswer, name: string): void {
    if (said.type === "decided") return say(response, 200, "Done", `${OUTCOMES[said.status]} You can close this page.`);
    if (said.reason === "definition_changed") return say(response, 409, "This does not count", CHANGED);
    if (said.message !== "confirmation_proof_invalid") return say(response, 404, "Nothing to decide", NOTHING);
    const why = `The gateway refuses it: ${said.reason.replaceAll("_", " ")}.`;
    say(response, 403, "This does not count", why, linkTo(name, "Back to the call"));
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

/** As bytes. */
function jsonOf({ approval, input }: Visit): string {
  const inputMembers = input("json", (decided) => textOf(JSON.stringify(shownInput(decided)).slice(1)));
  return `${textOf(JSON.stringify(approval).slice(0, -1))},${inputMembers}`;
}

function linkTo(name: string, text: string): string {
  return `<p><a href="${escapeHtml(PREFIX + name)}">${text}</a></p>`;
}

/** What says that a form comes from elsewhere; undefined: it is of our own page, in the browser that was shown it. */
function foreignness(request: HttpRequest, form: URLSearchParams, name: string): string | undefined {
  if (isFromElsewhere(request)) return "foreign_site";
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
