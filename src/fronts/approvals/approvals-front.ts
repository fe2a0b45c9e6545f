/**
 * The page on which people decide about one call that waits: the `confirm_url` of MCP-AX; and one that leads operators there. It decides nothing itself, but takes
 * what somebody says to where every other decision is made.
 */
import {
  ANONYMOUS,
  type ConfirmAnswer,
  decidedOutcome,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  hasRole,
  headerLine,
  type Log,
  type NoteRefusal,
  ORIGIN_TEXTS,
  type OriginFault,
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
import { pageBody, type SignInFacts, type TokenCommands } from "./approval-page.ts";
import { isProved, type SignIn } from "./sign-in.ts";
import { waitingBody } from "./waiting-page.ts";

export type ApprovalsFrontOptions = {
  readonly desk: Pick<ApprovalDesk, "visit" | "waiting" | "decide" | "turnDown" | "pages">;
  readonly log: Log;
  /** Says what is wrong with a request, or nothing. */
  readonly gate: (request: HttpRequest) => OriginFault | undefined;
  /** Hears of what was turned away before anybody looked at it. */
  readonly refused?: NoteRefusal;
  /** How people say who they are; unset: only by their requests. */
  readonly signIn?: SignIn;
  /** What they type to see what they sign in with; unset: nothing is known to help. */
  readonly tokenCommands?: () => TokenCommands;
};

/** Who has said something about what. */
type Told = {
  readonly request: HttpRequest;
  readonly visitor: Principal;
  readonly name: string;
  /** Whether they brought a proof. */
  readonly isProof: boolean;
};

export type ApprovalsFront = (request: HttpRequest, response: HttpResponse) => void;

const COOKIE: BrowserCookie = { name: "isthmus_approval", path: "/approvals", seconds: 3600 };
const MAX_FORM = 16 * 1024;
const PREFIX = "/approvals/";
/** The page that leads to the others: the name of none of them. */
const WAITING = "waiting";
const FORM_TYPE = "application/x-www-form-urlencoded";
const JSON_LINES = "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

/** The same for what never was, is over, was decided, or is somebody else's. */
const NOTHING = "There is nothing to decide here. The link is wrong, its time is over, or somebody has decided.";
/** Why something was turned away, where there is no more to say. */
const REFUSED = "approval page";
const UNKNOWN_TOKEN = "The gateway does not know this token, or not any more.";
/** Why a proof is no yes though all of it is right. */
const OWN_PROOFS: Readonly<Record<string, string>> = {
  own_principal:
    "The proof is by somebody of the name of whoever asked for this: nobody approves what they ask for themselves. Somebody else must sign, in an account of their own.",
  own_key:
    "Whoever asked for this has that key: nobody approves what they ask for themselves. It must be signed with somebody else's.",
};
const CHANGED =
  "The tool has changed since somebody was asked about it. The call is not made; its caller is told to ask anew.";
const FOREIGN = "This form was not sent by this gateway's own page, or the page was open for too long.";

export function createApprovalsFront(options: ApprovalsFrontOptions): ApprovalsFront {
  const { desk, log, gate, refused, signIn, tokenCommands = () => ({}) } = options;

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

  function signInFacts(problem?: string): SignInFacts | undefined {
    return signIn && { commands: tokenCommands(), problem };
  }

  /** Somebody has nothing more to do here. Where nobody is known, `/` tells what else there is, unless it is not served by this name. */
  function wayOn(request: HttpRequest, visitor: Principal): string {
    if (signIn && isProved(visitor) && hasRole(visitor, "operator"))
      return linkTo(WAITING, "The calls that still wait");
    return gate(request) === undefined ? '<p><a href="/">The start page of this gateway</a></p>' : "";
  }

  function sayNothing(request: HttpRequest, response: HttpResponse, visitor: Principal): void {
    say(response, 404, "Nothing to decide", NOTHING, wayOn(request, visitor));
  }

  /** `problem`: why nobody is known by the token that was just sent. */
  async function showWaiting(request: HttpRequest, response: HttpResponse, problem?: string): Promise<void> {
    const visitor = await visitorOf(request);
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const check = formCheck(browser, WAITING);
    const html = await waitingBody(desk, { visitor, check, signIn: signInFacts(problem) });
    const lines = cookieLine(browser, desk.pages ?? request.url, COOKIE);
    answer(response, problem === undefined ? 200 : 403, "Calls that wait", html, lines);
  }

  async function show(request: HttpRequest, response: HttpResponse, name: string, problem?: string): Promise<void> {
    const isForProgram = problem === undefined && wantsJson(request);
    if (name === WAITING && signIn && !isForProgram) return await showWaiting(request, response, problem);
    const visitor = await visitorOf(request);
    const visit = await desk.visit(visitor, name);
    if (isForProgram) {
      const body = visit ? jsonOf(visit) : textOf(JSON.stringify({ error: NOTHING }));
      return response.answer(visit ? 200 : 404, JSON_LINES, body);
    }
    if (!visit) return sayNothing(request, response, visitor);
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const url = visit.approval.confirm_url ?? request.url;
    const facts = { url, check: formCheck(browser, name), visitor, signIn: signInFacts(problem) };
    const status = problem === undefined ? 200 : 403;
    const title = `Approve ${visit.approval.tool}?`;
    answer(response, status, title, pageBody(visit, facts), cookieLine(browser, url, COOKIE));
  }

  async function decide(request: HttpRequest, response: HttpResponse, name: string, text: string): Promise<void> {
    const form = new URLSearchParams(text);
    const visitor = await visitorOf(request);
    const foreign = foreignness(request, form, { name, pages: desk.pages });
    if (foreign !== undefined) {
      if (!(await desk.turnDown(visitor, name, foreign))) note(request, foreign);
      return say(response, 403, "This did not work", FOREIGN, linkTo(name, "Open the page again"));
    }
    const way = form.get("sign");
    if (way !== null && signIn) return await sign(request, response, name, way === "in" ? form.get("token") : null);
    const order = orderOf(form);
    if (!order) return turnAway(request, response, 400, "The form says neither yes nor no.");
    const said = await desk.decide(visitor, name, order);
    if (said) return tell(response, said, { request, visitor, name, isProof: order.proof !== undefined });
    note(request, REFUSED);
    sayNothing(request, response, visitor);
  }

  /** In with a token, out without. At a page that is not there no token is even looked at. */
  async function sign(request: HttpRequest, response: HttpResponse, name: string, token: string | null): Promise<void> {
    const browser = browserIn(request, COOKIE);
    const isThere = name === WAITING || (await desk.visit(ANONYMOUS, name)) !== undefined;
    if (!signIn || browser === undefined || !isThere) return sayNothing(request, response, await visitorOf(request));
    const url = desk.pages ?? request.url;
    const line = token === null ? signIn.leave({ url }) : await signIn.lineFor(request, token.trim(), { url, browser });
    if (line === undefined) {
      note(request, "sign-in");
      return await show(request, response, name, UNKNOWN_TOKEN);
    }
    response.answer(303, `${line}${headerLine("Location", PREFIX + name)}Cache-Control: no-store\r\n`, "");
  }

  function tell(response: HttpResponse, said: ConfirmAnswer, { request, visitor, name, isProof }: Told): void {
    if (said.type === "decided") {
      const text = `${decidedOutcome(said.status, said.connection)} You can close this page.`;
      return say(response, 200, "Done", text, wayOn(request, visitor));
    }
    if (said.reason === "definition_changed") return say(response, 409, "This does not count", CHANGED);
    if (said.message !== "confirmation_proof_invalid") return sayNothing(request, response, visitor);
    const own = isProof ? OWN_PROOFS[said.reason] : undefined;
    const why = own ?? `The gateway refuses it: ${said.reason.replaceAll("_", " ")}.`;
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
    if (wrong !== undefined) return turnAway(request, response, 403, ORIGIN_TEXTS[wrong], wrong);
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
function foreignness(
  request: HttpRequest,
  form: URLSearchParams,
  { name, pages }: { readonly name: string; readonly pages: string | undefined },
): string | undefined {
  if (isFromElsewhere(request, pages)) return "foreign_site";
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
