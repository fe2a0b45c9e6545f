import type { Row } from "./row.ts";

const MODERN = "src/fronts/mcp/modern";
const ENVELOPE = `${MODERN}/envelope-check.test.ts`;
const OPEN_CALL = `${MODERN}/open-call.test.ts`;
const ROUNDS = `${MODERN}/rounds.test.ts`;
const UNMAPPED = `${MODERN}/unmapped.test.ts`;
const URLS = `${MODERN}/url-waits.test.ts`;

/** Whatever server stands behind. */
export const requestsOf2026: readonly Row[] = [
  {
    what: "A version that the gateway does not speak",
    gets: "400, -32022, `data.supported` (the versions that `server/discover` lists) and `data.requested`",
    why: "the client can choose another",
    test: [ENVELOPE, "with an unknown version, told which there are"],
  },
  {
    what: "No envelope, or one without version or capabilities; a `clientInfo` or `logLevel` that is none",
    gets: "400, -32602, the text names the member",
    why: "nothing is known of the client, and nothing is assumed",
    test: [ENVELOPE, "without capabilities"],
  },
  {
    what: "`MCP-Protocol-Version`, `Mcp-Method` or `Mcp-Name` missing, or not as in the body",
    gets: "400, -32020, `Header mismatch: NAME is missing` or `differs from the body`",
    why: "whoever looked only at the headers would have decided about another request",
    test: [ENVELOPE, "with another name in the header"],
  },
  {
    what: "`Mcp-Param-…` missing for an argument that has one, or not as in the arguments",
    gets: "400, -32020, the text names the header",
    why: "as above",
    test: [ENVELOPE, "of arguments are compared with them: %s"],
  },
  {
    what: "`initialize`, `ping`, `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe`, `tasks/list`, `tasks/result`",
    gets: "404, -32601, `Method not found: METHOD`",
    why: "this revision has dropped them; none is passed to a server",
    test: [ENVELOPE, "for logging/setLevel"],
  },
  {
    what: "A method of no revision, with several servers behind, or with one that does not know it",
    gets: "404, -32601",
    why: "only a single server can be meant by it",
    test: [`${MODERN}/calls.test.ts`, "without a method we know goes to the one server there is"],
  },
  {
    what: "`tasks/get`, `tasks/update`, `tasks/cancel` of a client that did not declare the extension",
    gets: "400, -32021, `data.requiredCapabilities.extensions`",
    why: "tasks are an extension in this revision",
    test: [ENVELOPE, "for a task without the extension"],
  },
  {
    what: "An array of requests, or a response",
    gets: "400, -32600",
    why: "there are no batches, and nothing that a client could respond to",
    test: [ENVELOPE, "in an array, and an answer that is posted"],
  },
  {
    what: "GET and DELETE",
    gets: "405, `Allow: POST`",
    why: "there are no sessions to listen on or to end",
    test: [ENVELOPE, "as a GET or DELETE, whatever session it names"],
  },
  {
    what: "`Mcp-Session-Id` and `Last-Event-ID`",
    gets: "the answer as without them",
    why: "a client that speaks both eras may still send them",
    test: [ENVELOPE, "of a session or a place in a stream are not looked at"],
  },
  {
    what: "A notification",
    gets: "202; it goes to no server",
    why: "no notification of the client is defined over HTTP, and no server session is the client's own",
    test: [UNMAPPED, "a notification of the client is taken, and goes nowhere"],
  },
  {
    what: "A tool, prompt or resource that nobody offers",
    gets: "200, -32602, `Unknown tool: NAME`; for a resource also `data.uri`",
    why: "the gateway answers from its own lists, whatever servers would say",
    test: [ENVELOPE, "for a tool nobody has"],
  },
  {
    what: "A list that no server has",
    gets: "200, an empty list",
    why: "a server that has it may be added or come up at any time",
    test: [UNMAPPED, "a list that no server has is empty"],
  },
  {
    what: "A cursor of a list that has changed since",
    gets: "200, -32602, the text says to list again from the start",
    why: "pages of two lists do not fit together",
    test: [`${MODERN}/era-cases.test.ts`, "is not valid for another list than the one it was given for"],
  },
  {
    what: "`subscriptions/listen` that does not say what for",
    gets: "200, -32602",
    why: "nothing is sent that was not asked for",
    test: [`${MODERN}/listen.test.ts`, "refuses %j"],
  },
  {
    what: "A server that cannot be reached",
    gets: 'the family\'s error with PROVIDER_UNREACHABLE; lists name the server in `_meta["dev.isthmus/servers"]`',
    why: "one server that is down does not take its tools from the others",
    test: [`${MODERN}/calls.test.ts`, "ends with our own errors as the family has them"],
  },
];

/** A server of 2025 stands behind. */
export const from2026To2025: readonly Row[] = [
  {
    what: "The server asks what the client has not declared",
    gets: "the server at once -32601; the client the result if the server can do without, else 400, -32021, `data.requiredCapabilities` (200 if the stream is open by then)",
    why: "servers of 2025 often ask without looking; the client must learn what it lacks",
    test: [OPEN_CALL, "that was not declared, in a call that then ends with %s, tells what is missing"],
  },
  {
    what: "The same, when progress or logs have opened the stream",
    gets: "200, -32021 as the last message of the stream",
    why: "the status is sent already",
    test: [UNMAPPED, "a capability found missing after the stream was opened is told on the stream"],
  },
  {
    what: "The server asks outside any call",
    gets: 'the client nothing; the server `{"action":"cancel"}`, for sampling error -1, for roots those that the client gave last, or none',
    why: "clients of 2026 can be asked only in the answer to a call",
    test: [`${MODERN}/requests.test.ts`, "answers questions outside any call by itself"],
  },
  {
    what: "The server asks during `completion/complete` or a method of its own",
    gets: "the server as above; the client what the server then answers",
    why: "only `tools/call`, `prompts/get` and `resources/read` may be answered with questions",
    test: [OPEN_CALL, "is answered negatively where a method has no rounds, or too many calls wait"],
  },
  {
    what: "The server asks while 256 calls of the client wait for input",
    gets: "the server as above, for the new question",
    why: "open calls cost memory; those that wait are not given up for new ones",
    test: [OPEN_CALL, "is answered negatively where a method has no rounds, or too many calls wait"],
  },
  {
    what: "The client does not come back within `inputTimeout`",
    gets: "the server as above (for roots -32603) and then `notifications/cancelled`; a later retry 200, -32602, `Invalid or expired requestState`",
    why: "a server cannot be kept waiting for ever",
    test: [OPEN_CALL, "ends when nobody comes back: each question is answered, then the call is cancelled"],
  },
  {
    what: "A state that was changed, is another caller's or another catalog's, is too old, or sealed with another key",
    gets: "200, -32602, `Invalid or expired requestState`",
    why: "one text for all: whoever tries learns nothing",
    test: [ROUNDS, "of another key, another caller, another catalog or an expired time is refused with the same words"],
  },
  {
    what: "A state with another tool or other arguments than it was given for",
    gets: '200, -32602, `data.reason: "request_mismatch"`; the right retry still works',
    why: "the user agreed to the first request, not to this one",
    test: [ROUNDS, "goes with no other request: %s"],
  },
  {
    what: "A state for the second time, or after the client left during its retry",
    gets: '200, -32602, `data.reason: "state_used"`',
    why: "nothing is done twice",
    test: [ROUNDS, "serves once: of two that come at the same time, one goes on"],
  },
  {
    what: "A state under the same `sealKey`, after the gateway that held its call was started anew",
    gets: '200, -32603, `data.reason: "upstream_lost"`',
    why: "the open call at the server ended with the process that made it",
    test: [UNMAPPED, "a state whose call ended with the process that kept it is told that nobody knows how"],
  },
  {
    what: "Answers that are no objects",
    gets: "200, -32602; the right retry still works",
    why: "they are looked at before anything is touched",
    test: [ROUNDS, "is refused before anything is touched"],
  },
  {
    what: "Answers without a state",
    gets: "a new call",
    why: "no call of the server waits that they could belong to",
    test: [ROUNDS, "with answers but without a state is a new call"],
  },
  {
    what: "A retry that declares less than its questions need",
    gets: "400, -32021, `data.requiredCapabilities`; the right retry still works",
    why: "the client could not answer what is asked",
    test: [ROUNDS, "that declares less than is asked is told what is missing, and may come again"],
  },
  {
    what: "The server is lost while the client thinks",
    gets: '200, -32603, `data.reason: "upstream_lost"`, on the retry',
    why: "what became of the call is not known",
    test: [OPEN_CALL, "says that its server was lost meanwhile"],
  },
  {
    what: "-32042 (a page must be visited) for a client without `elicitation.url`",
    gets: "400, -32021, `data.requiredCapabilities.elicitation.url`",
    why: "this revision has no such error, only a question",
    test: [URLS, "is not understood by a client that cannot visit pages"],
  },
  {
    what: "-32042, and the user declines",
    gets: "200, a result with `isError`; the server is not called again",
    why: "the call cannot succeed",
    test: [URLS, "is not called again when the user does not want to, or the client leaves"],
  },
  {
    what: "-32042, and the server does not say that the visit is over",
    gets: "the call is made again after 20 s, and may be answered with the same question",
    why: "clients give up a request after a minute, and a call after ten rounds",
    test: [URLS, "is called again after a while in any case, and may ask again"],
  },
  {
    what: "A missing resource: -32002, or empty `contents` for a URI that is not listed",
    gets: "200, -32602, `data.uri`",
    why: "this revision has no code of its own for it, and forbids the empty answer",
    test: [`${MODERN}/era-cases.test.ts`, "is a bad parameter that names it, when its server says so with %s"],
  },
  {
    what: "A server's log lines, progress and notifications of its own, outside any call",
    gets: "nothing",
    why: "only changed lists and updated resources have a place on a stream, and only where they were asked for",
    test: [UNMAPPED, "a server's word outside any call is heard only where it is asked for"],
  },
  {
    what: "A subscription to a resource of a server that has none, or refuses it",
    gets: "the acknowledgement without that URI",
    why: "the acknowledgement says what will be heard",
    test: [UNMAPPED, "a subscription at a server that has none is left out of the acknowledgement"],
  },
];
