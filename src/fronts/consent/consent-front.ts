/**
 * Where browsers come to let the gateway use a server on somebody's behalf, and where they come back to. Nobody is known
 * here by a header: a sealed ticket says whom it is about, and a cookie that it is the same browser all along.
 */
import {
  type HttpRequest,
  type HttpResponse,
  headerLine,
  type Log,
  type NoteRefusal,
  ORIGIN_TEXTS,
  type OriginFault,
  textOf,
} from "../../contract/index.ts";
import {
  type ConsentDesk,
  describeClient,
  OAuthFault,
  type Visit,
} from "../../mechanisms/vault/upstream-oauth/index.ts";
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
  PAGE_LINES,
  page,
} from "../../wire/pages/index.ts";

export type ConsentFrontOptions = {
  readonly desk: ConsentDesk;
  readonly log: Log;
  /** Says what is wrong with a request, or nothing. */
  readonly gate: (request: HttpRequest) => OriginFault | undefined;
  /** Hears of links and forms that are not good. */
  readonly refused?: NoteRefusal;
};

export type ConsentFront = (request: HttpRequest, response: HttpResponse) => void;

/** What the page is about. */
type Shown = { readonly visit: Visit; readonly ticket: string; readonly place: string };

const COOKIE: BrowserCookie = { name: "isthmus_consent", path: "/oauth", seconds: 600 };
const MAX_FORM = 16 * 1024;
const START = /^\/oauth\/start\/([^/?]+)$/;
const CLIENT_DOCUMENT = "/oauth/client.json";

export function createConsentFront({ desk, log, gate, refused }: ConsentFrontOptions): ConsentFront {
  function answer(response: HttpResponse, status: number, title: string, body: string, lines = ""): void {
    response.answer(status, PAGE_LINES + lines, textOf(page(title, body)));
  }

  function refuse(response: HttpResponse, status: number, why: string): void {
    answer(response, status, "This did not work", `<p>${escapeVisibly(why)}</p>`);
  }

  function turnAway(request: HttpRequest, response: HttpResponse, why: string, reason = "consent"): void {
    refused?.({ reason, address: request.clientAddress, path: request.url });
    refuse(response, 403, why);
  }

  function fail(response: HttpResponse, error: unknown): void {
    if (error instanceof OAuthFault) {
      log.warn("consent failed", { reason: error.message });
      return refuse(response, 400, error.message);
    }
    log.error("consent failed inside the gateway", { cause: error });
    refuse(response, 500, "The gateway failed; its log says why.");
  }

  /** Says for whom it is, and where they sign in: nobody shall let others use a server in their name. */
  function showStart(request: HttpRequest, response: HttpResponse, { visit, ticket, place }: Shown): void {
    const browser = browserIn(request, COOKIE) ?? newBrowser();
    const { server, holder } = visit.ticket;
    const body =
      `<p>The gateway will use <b>${escapeVisibly(server)}</b> on behalf of</p>${describe(holder)}` +
      `<p>You will sign in at <b>${escapeVisibly(place)}</b>.</p>` +
      "<p>Go on only if that is you, if it was you who asked for this page, and if you know that place. " +
      "If your browser ends up at another one, do not sign in there.</p>" +
      `<form method="post"><input type="hidden" name="ticket" value="${escapeHtml(ticket)}">` +
      `<input type="hidden" name="place" value="${escapeHtml(place)}">` +
      `<input type="hidden" name="check" value="${formCheck(browser)}"><button>Continue</button></form>`;
    answer(response, 200, `Allow ${server}`, body, cookieLine(browser, desk.callbackUrl, COOKIE));
  }

  function start(request: HttpRequest, response: HttpResponse, server: string, form: URLSearchParams): void {
    const browser = browserIn(request, COOKIE);
    const ticket = form.get("ticket") ?? "";
    if (browser === undefined || isFromElsewhere(request, desk.callbackUrl) || form.get("check") !== formCheck(browser))
      return turnAway(request, response, "This page was not opened in this browser. Open the link again.");
    const begin = async () => {
      const visit = await desk.visit(server, ticket === "" ? undefined : ticket);
      if (!visit) return turnAway(request, response, EXPIRED);
      const url = await desk.begin(visit, browser);
      const place = new URL(url).host;
      // The server has named another one meanwhile.
      if (place !== form.get("place")) return showStart(request, response, { visit, ticket, place });
      response.answer(303, `${headerLine("Location", url)}Cache-Control: no-store\r\n`, "");
    };
    begin().catch((error) => fail(response, error));
  }

  async function open(request: HttpRequest, response: HttpResponse, server: string, ticket: string | undefined) {
    const visit = await desk.visit(server, ticket);
    if (!visit) return turnAway(request, response, EXPIRED);
    showStart(request, response, { visit, ticket: ticket ?? "", place: await desk.placeOf(visit) });
  }

  function comeBack(request: HttpRequest, response: HttpResponse, query: URLSearchParams): void {
    desk.finish(query, browserIn(request, COOKIE) ?? "").then(
      (server) =>
        answer(
          response,
          200,
          "Done",
          `<p><b>${escapeVisibly(server)}</b> can be used now. You can close this page.</p>`,
        ),
      (error) => fail(response, error),
    );
  }

  function get(request: HttpRequest, response: HttpResponse, path: string, query: URLSearchParams): void {
    request.discard();
    const server = serverIn(path);
    if (path === "/oauth/callback") return comeBack(request, response, query);
    if (path === CLIENT_DOCUMENT) return response.answer(200, JSON_LINES, textOf(JSON.stringify(clientDocument(desk))));
    if (server === undefined) return refuse(response, 404, "There is no such page.");
    const ticket = query.get("ticket") ?? undefined;
    open(request, response, server, ticket).catch((error) => fail(response, error));
  }

  return function handle(request, response) {
    const wrong = isAskedAt(request, desk.callbackUrl) ? undefined : gate(request);
    const at = request.url.indexOf("?");
    const path = at < 0 ? request.url : request.url.slice(0, at);
    const server = serverIn(path);
    if (wrong === undefined && request.method === "POST" && server !== undefined) {
      return request.body(MAX_FORM, {
        onBody: (text) => start(request, response, server, new URLSearchParams(text)),
        onTooLarge: () => refuse(response, 413, "This form is too large."),
      });
    }
    if (wrong === undefined && request.method === "GET")
      return get(request, response, path, new URLSearchParams(at < 0 ? "" : request.url.slice(at + 1)));
    request.discard();
    if (wrong === undefined) refuse(response, 405, "This page is only shown, or sent as a form.");
    else turnAway(request, response, ORIGIN_TEXTS[wrong], wrong);
  };
}

/** All that tells one holder from another: users of several tenants may have the same name. */
function describe({ user, client, tenant }: Visit["ticket"]["holder"]): string {
  const known = Object.entries({ User: user, Client: client, Tenant: tenant }).filter(([, value]) => value !== "");
  return `<dl>${known.map(([what, value]) => `<dt>${what}</dt><dd>${escapeVisibly(value)}</dd>`).join("")}</dl>`;
}

const EXPIRED = "This link is not good any more. Make the call again to get another one.";
const JSON_LINES = "Content-Type: application/json\r\nCache-Control: max-age=300\r\n";

/** What we are to issuers that read it under its URL. */
function clientDocument({ callbackUrl }: ConsentDesk): object {
  const url = new URL(CLIENT_DOCUMENT, callbackUrl).href;
  return { client_id: url, client_uri: new URL(callbackUrl).origin, ...describeClient(callbackUrl, "none") };
}

function serverIn(path: string): string | undefined {
  const [, written] = START.exec(path) ?? [];
  try {
    return written === undefined ? undefined : decodeURIComponent(written);
  } catch {
    return undefined;
  }
}
