import type { Row } from "./row.ts";

const HTTP = "src/fronts/mcp/http";
const REFUSALS = `${HTTP}/refusals.test.ts`;
const REQUESTS = "src/fronts/mcp/requests.test.ts";
const PROVIDER = "src/providers/mcp/modern";
const INPUT = `${PROVIDER}/input-rounds.test.ts`;
const OLDER = "src/fronts/mcp/era-cases.test.ts";
const UPSTREAM = `${PROVIDER}/modern-http.test.ts`;
const BRIDGE = "src/wire/mcp/bridge";

/** Whatever server stands behind. */
export const requestsOf2025: readonly Row[] = [
  {
    what: "A session id that is not known",
    gets: "404, -32001",
    why: "tells the client to initialize again",
    test: [REFUSALS, "with an unknown session id"],
  },
  {
    what: 'No session id, where `sessions = "stateful"`',
    gets: "400, -32000",
    why: "the operator wants sessions; otherwise the request is served without one, and nothing can be asked in it",
    test: [REFUSALS, "without a session id where sessions are a must"],
  },
  {
    what: "A version in the header that nobody speaks",
    gets: "400, -32000",
    why: "there is no way to answer in it",
    test: [REFUSALS, "with an unknown protocol version"],
  },
  {
    what: "An array of requests outside 2025-03-26, or with `initialize` in it",
    gets: "400, -32600",
    why: "only that revision has batches",
    test: [REQUESTS, "must not hold initialize, and must hold something"],
  },
  {
    what: "A tool, prompt or resource that nobody offers",
    gets: "200, -32601 for a tool, -32602 for a prompt, -32002 with `data.uri` for a resource",
    why: "the gateway answers from its own lists, whatever servers would say",
    test: [REQUESTS, "of %s that nobody knows (%o) give %d"],
  },
  {
    what: "A cancel of what is over, or never was",
    gets: "202",
    why: "it may have crossed the answer",
    test: [OLDER, "may cancel what is over, what it cancelled before and what never was"],
  },
];

/** A server of 2026 stands behind. */
export const from2025To2026: readonly Row[] = [
  {
    what: "The server asks what the client has not declared",
    gets: "the family's error with PROVIDER_FAILED, the text names the capability; the client is not asked",
    why: "the server should have looked",
    test: [INPUT, "does not reach a client that lacks %s"],
  },
  {
    what: "The server refuses with -32021",
    gets: "the family's error with PROVIDER_FAILED, the text names the capability",
    why: "2025 does not have this code",
    test: [UPSTREAM, "has its missing resources and capabilities told in the words of each era"],
  },
  {
    what: "The client answers a question with an error",
    gets: "the family's error with PROVIDER_FAILED, the text names the method; the server is not called again",
    why: "only results can be answers in 2026",
    test: [INPUT, "is not called again when the client refuses"],
  },
  {
    what: "The client takes only JSON, and has no stream of its session open",
    gets: "as if it had refused, at once",
    why: "a question could not reach it",
    test: [`${HTTP}/asks.test.ts`, "is refused for a client that takes only JSON and listens nowhere"],
  },
  {
    what: "The client has no session",
    gets: "the family's error with PROVIDER_FAILED",
    why: "its answer could not be told from another's",
    test: [INPUT, "cannot ask anybody on the shared session"],
  },
  {
    what: "A question that the client's revision has no form for: several choices or an address before 2025-11-25, anything before 2025-06-18",
    gets: "as if it had refused, at once",
    why: "the client would not understand it; titled choices are written as 2025-06-18 has them",
    test: [OLDER, "has no form for is refused at once, though it declared elicitation"],
  },
  {
    what: "The client does not answer",
    gets: "the family's error with DEADLINE_PASSED after `inputTimeout`",
    why: "nothing runs at the server meanwhile, so nothing is lost there",
    test: [
      "src/kernel/kernel.test.ts",
      "gives up a call whose question nobody answers, a moment after the fronts would have",
    ],
  },
  {
    what: "The server asks in more than ten rounds",
    gets: "the family's error with PROVIDER_FAILED",
    why: "it would ask for ever",
    test: [INPUT, "is given up after ten rounds"],
  },
  {
    what: "The server wants input and names neither question nor state",
    gets: "the family's error with PROVIDER_FAILED",
    why: "there is nothing to ask and nothing to come back with",
    test: [
      `${PROVIDER}/unmapped.test.ts`,
      "a wish for input that says neither what for nor with which state ends the call",
    ],
  },
  {
    what: "The user opens an address, and the server still waits when the call's time is over",
    gets: "200, -32042, `data.elicitations` with the address",
    why: "the client can call again when the user is done",
    test: [INPUT, "leaves the address to the client when the call has no more time to wait"],
  },
  {
    what: "A missing resource: -32602 with `data.uri`",
    gets: "200, -32002",
    why: "2025 has a code of its own for it",
    test: [UPSTREAM, "has its missing resources and capabilities told in the words of each era"],
  },
  {
    what: "The server does not take the headers that the gateway made (-32020)",
    gets: "nothing if it does after its tools were listed anew; else the family's error with PROVIDER_FAILED",
    why: "the headers are the gateway's own, the client can do nothing about them",
    test: [`${PROVIDER}/headers.test.ts`, "are made anew, once, when the server says that they do not fit"],
  },
  {
    what: "The server does not take the version any more (-32022)",
    gets: "nothing if it does after it was asked anew; else the family's error with PROVIDER_FAILED",
    why: "as above",
    test: [UPSTREAM, "is asked for its versions again, once, when it does not take ours in a call"],
  },
  {
    what: "A result of a kind that 2025 does not have",
    gets: "the family's error with PROVIDER_FAILED",
    why: "clients of 2025 would take it for an empty success",
    test: [UPSTREAM, "never gives a result of an unknown kind to a client of the 2025 era"],
  },
  {
    what: "An `outputSchema` that cannot be written as one of an object",
    gets: "the tool without its `outputSchema`",
    why: "clients of 2025 refuse the whole list for one such schema",
    test: [`${BRIDGE}/output-schema.test.ts`, "drops an output schema that cannot be projected, and keeps the tool"],
  },
  {
    what: "Links to resources before 2025-06-18, audio before 2025-03-26",
    gets: "a text that names them",
    why: "the client's revision does not have such blocks",
    test: [
      `${BRIDGE}/older-content.test.ts`,
      "says links and audio as text, and leaves the blocks beside them byte for byte",
    ],
  },
  {
    what: "A tool whose `x-mcp-header` is not valid, or stands on more than 64 properties",
    gets: "the list without that tool",
    why: "the revision demands it of clients, and the gateway is the server's client",
    test: [`${PROVIDER}/headers.test.ts`, "are never made for tools with an annotation that is not valid"],
  },
  {
    what: "`resources/subscribe` at a server without subscriptions",
    gets: "200, -32601",
    why: "nothing would ever come",
    test: [`${PROVIDER}/listening.test.ts`, "refuses subscriptions where the server has none"],
  },
  {
    what: "The stream of a call is lost",
    gets: "nothing if the tool may be repeated, because it is called once more; else the family's error with OUTCOME_UNKNOWN",
    why: "streams of 2026 cannot be taken up again",
    test: ["src/kernel/kernel.test.ts", "sends a lost call of a repeatable tool once more"],
  },
  {
    what: "An error of the server's own, -32000 to -32019 included",
    gets: "the same error, byte for byte",
    why: "the codes have no meaning that both eras share",
    test: [
      `${PROVIDER}/unmapped.test.ts`,
      "an error code without a shared meaning passes as it is, in both directions",
    ],
  },
  {
    what: "Progress that a later round counts anew, or that comes after the answer",
    gets: "nothing of it",
    why: "progress only grows, over all rounds of a call",
    test: [INPUT, "gives progress that grows over all rounds"],
  },
];
