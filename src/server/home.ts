/** What stands at `/`: a page for a person who opens the address, and the same facts for a program. */
import {
  type HttpRequest,
  type HttpResponse,
  identityOf,
  type Log,
  namesType,
  type ProviderStatus,
  textOf,
} from "../contract/index.ts";
import { escapeHtml, escapeVisibly, OWN_PAGE_LINES, page } from "../wire/pages/index.ts";

/** A call that waits for somebody's yes. */
type WaitingCall = { readonly tool: string; readonly url: string };

export type HomeOptions = {
  readonly version: string;
  readonly readiness: () => {
    readonly body: { readonly status: string; readonly servers: Readonly<Record<string, ProviderStatus>> };
  };
  /** Where people reach the gateway, without a slash at the end; undefined: nobody knows, so it is where they came to. */
  readonly origin: () => string | undefined;
  readonly waiting: () => Promise<{ readonly calls: readonly WaitingCall[]; readonly more: number }>;
  /** Whether people can say in a browser who they are. */
  readonly hasSignIn?: boolean;
  readonly log: Log;
};

/** What is told: all of it to the local user alone, to whoever is not known hardly more than that there is something. */
type Facts = {
  readonly name: "isthmus";
  readonly status: string;
  readonly mcp: string;
  readonly version?: string;
  readonly servers?: Readonly<Record<string, ProviderStatus>>;
  readonly waiting?: readonly WaitingCall[];
  /** How many wait beside these; unset: none. */
  readonly moreWaiting?: number;
};

export type Home = (request: HttpRequest, response: HttpResponse) => void;

const LINKS = { health: "/healthz", readiness: "/readyz", api: "/openapi.json" };
const JSON_LINES = "Content-Type: application/json\r\nCache-Control: no-store\r\nVary: Accept\r\n";
const HTML_LINES = `${OWN_PAGE_LINES}Vary: Accept\r\n`;
const STATUS_WORDS: Readonly<Record<ProviderStatus, string>> = {
  ok: "up",
  starting: "starting",
  unreachable: "down",
  auth_required: "up, and wants its users to sign in",
  invalid: "not usable as it is configured",
};

const SIGN_IN = 'Operators <a href="/approvals/waiting">sign in</a> to see the calls that wait for a yes, and decide.';

export function createHome({ version, readiness, origin, waiting, hasSignIn = false, log }: HomeOptions): Home {
  async function factsFor({ principal, headers: { host = "" } }: HttpRequest): Promise<Facts> {
    const { proof } = identityOf(principal);
    const { status, servers } = readiness().body;
    const facts = { name: "isthmus", status, mcp: `${origin() ?? `http://${host}`}/mcp` } as const;
    if (proof === "none") return facts;
    if (proof !== "local") return { ...facts, version };
    const { calls, more } = await waiting();
    const shown = calls.map(({ tool, url }) => ({ tool, url }));
    return { ...facts, version, servers, waiting: shown, ...(more > 0 && { moreWaiting: more }) };
  }

  return function answerHome(request, response) {
    request.discard();
    const { accept = "*/*" } = request.headers;
    const isAsked = request.method === "GET" || request.method === "HEAD";
    // A client that was given this address instead of that of MCP must not take the page for an answer.
    if (!isAsked || namesType(accept, ["text/event-stream"]))
      return response.answer(404, JSON_LINES, '{"error":"not found: MCP is served at /mcp"}');
    factsFor(request).then(
      (facts) =>
        namesType(accept, ["text/html"])
          ? response.answer(200, HTML_LINES, textOf(page("Isthmus", homeBody(facts, linksFor(request), hasSignIn))))
          : response.answer(200, JSON_LINES, textOf(JSON.stringify({ ...facts, links: LINKS }))),
      (cause) => {
        log.warn("the page at / could not be made", { cause });
        response.answer(503, JSON_LINES, '{"error":"the gateway cannot reach its store"}');
      },
    );
  };
}

/** A browser has no token to show: what takes one is nothing to open there. */
function linksFor({ principal }: HttpRequest): readonly string[] {
  const { api, ...open } = LINKS;
  return Object.values(identityOf(principal).proof === "none" ? open : { ...open, api });
}

function homeBody(
  { status, mcp, version, servers, waiting = [], moreWaiting = 0 }: Facts,
  links: readonly string[],
  hasSignIn: boolean,
): string {
  const rows = [
    ["State", escapeHtml(status)],
    ["Address for clients", `<code>${escapeVisibly(mcp)}</code>`],
    ...(version === undefined ? [] : [["Version", escapeHtml(version)]]),
  ];
  return [
    "<p>A gateway for MCP: many servers behind one address, and every call judged and accounted for.</p>",
    definitions(rows),
    ...(waiting.length === 0
      ? []
      : [`<h2>Waits for a yes</h2>${list([...waiting.map(linkTo), ...moreItem(moreWaiting)])}`]),
    ...(servers ? [`<h2>Servers</h2>${serversList(servers)}`] : []),
    `<h2>Where to go on</h2>${list([
      "Give the address above to any MCP client.",
      // Who is told of servers is told of calls.
      ...(hasSignIn && !servers ? [SIGN_IN] : []),
      "The guide comes with the program, in <code>docs/guide</code>; <code>isthmus --help</code> says where, and lists what can be typed.",
      `For programs: ${links.map((path) => `<a href="${path}">${path}</a>`).join(", ")}`,
    ])}`,
  ].join("\n");
}

function serversList(servers: Readonly<Record<string, ProviderStatus>>): string {
  const rows = Object.entries(servers).map(([id, status]) => [escapeVisibly(id), STATUS_WORDS[status]]);
  return rows.length === 0 ? "<p>There are none yet.</p>" : definitions(rows);
}

function moreItem(more: number): string[] {
  return more === 0 ? [] : [`${more} more, which <code>isthmus approvals</code> lists`];
}

function linkTo({ tool, url }: WaitingCall): string {
  return `<a href="${escapeHtml(url)}">${escapeVisibly(tool)}</a>`;
}

/** Names and values, as HTML. */
function definitions(rows: readonly (readonly string[])[]): string {
  return `<dl>${rows.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join("\n")}</dl>`;
}

function list(items: readonly string[]): string {
  return `<ul>${items.map((html) => `<li>${html}</li>`).join("\n")}</ul>`;
}
