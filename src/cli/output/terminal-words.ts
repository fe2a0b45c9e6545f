/** What the messages of the log are called for a person at a terminal. A test goes through all that there are. */

import type { LogFields } from "../../contract/index.ts";
import { Secret } from "../../server/config/secret.ts";
import { listOf } from "../json.ts";
import { PROGRAM } from "../program-name.ts";
import { whereToApprove } from "./wait-words.ts";

type Describe = (fields: LogFields) => readonly string[];

/** In other words than the log's. No lines: the table of servers or another line says it. */
export const WORDS: Readonly<Record<string, Describe>> = {
  listening: () => [],
  // The table shows what is new. What is as it was before a mistake has none.
  "config taken over": ({ wasRefused, added, changed, removed, settings }) =>
    wasRefused === true && [added, changed, removed, settings].flat().length === 0
      ? ["the config is in order again, and as it was taken over before"]
      : [],
  "pinned what is new": () => [],
  // A gateway that is alone joins nobody.
  joined: ({ address }) => (address ? [`one of several processes now, reached by the others at ${address}`] : []),
  "membership lost": ({ reason }) => [
    `warning: ${reason === "late" ? "this process did not reach Redis in time" : "the other processes took this one for gone"};`,
    "  until it is one of them again, which it tries by itself, they do without it",
  ],
  "session taken over": () => ["took over a session of a process that is gone"],
  "redis is back": ({ store }) => [`${store} is back`],
  "store answers again": ({ store }) => [`${store} answers again`],
  "provider answers again": ({ provider }) => [`${provider} answers again`],
  "grants, tokens and the audit trail are only in memory: restart the gateway to keep them": () => [
    "warning: grants, tokens and the audit trail are only in memory;",
    "  restart the gateway to keep them",
  ],
  // The reason of a token says which one it was.
  revoked: ({ subject, server, reason }) => [
    /^token .* was revoked$/.test(textOf(reason) ?? "")
      ? `${reason}`
      : `revoked: ${[subject, server].filter(Boolean).join(" at ")}${reason ? `, ${reason}` : ""}`,
  ],
  // The summary tells who is asked for what.
  "callers are known by": () => [],
  "default access policy": ({ policy, why }) => [accessWords(policy, why)],
  "nobody can approve": () => [
    "calls that cannot be undone wait for a yes that nobody can give;",
    `  "${PROGRAM} operator init" says how, [gate] mode = "open" lets them go`,
  ],
  // It repeats with every attempt; the state of the server is told once.
  "upstream session failed": () => [],
  "call waits for a yes": ({ target, approval, page, missing, url }) => {
    const waiting = { id: `${approval}`, page: pageOf(page), missing: textOf(missing), url: textOf(url) };
    return [`${target} waits for a yes: ${whereToApprove(waiting)}`];
  },
  "call finished": ({ target, code, durationMs, callId }) => [
    code === "CONFIRMATION_REQUIRED"
      ? `${target}: not called yet, it waits for a yes`
      : `${target}: ${code}, ${durationMs} ms${code === "ok" ? "" : `; "${PROGRAM} trace ${callId}" shows more`}`,
  ],
  "provider state": ({ provider, status, reason }) => [`${provider}: ${status}${reason ? `, ${reason}` : ""}`],
  "config refused, the old one stays": ({ problems, cause }) => [
    "the config was refused, the old one stays:",
    ...(Array.isArray(problems) ? problems : [textOf(cause)]).map((problem) => `  ${problem}`),
  ],
  stopping: () => ["stopping when open calls have ended; Ctrl-C stops at once"],
};

/** Instead of names that only the code knows: how bad it is stands before it, and why behind it. */
export const SENTENCES: Readonly<Record<string, (fields: LogFields) => string>> = {
  // Several processes as one gateway.
  "membership not given up": () => "the others were not told that this process leaves, and find out by themselves",
  "home not given up": ({ key }) =>
    `the others were not told that ${key} runs here no more, and find out by themselves`,
  "member without a usable address": ({ address }) =>
    `another process is said to be at ${address}, which is no address`,
  "stranger at the cluster's door": () =>
    "something that is none of its processes tried to reach this one as if it were",
  "cluster listener failed": () => "the address at which the other processes reach this one has failed",
  "decisions of other processes are heard late": () =>
    "what is approved at other processes may count a little later here",
  "audit chain was continued by somebody else": () =>
    "another process took over this one's part of the audit trail, so it begins a new part",
  "redis is away": ({ store }) => `${store} does not answer`,
  "store does not answer": ({ store }) => `${store} does not answer`,
  "shared state": ({ note }) => `${note}`,
  // Servers.
  "provider did not open": ({ provider }) => `${provider} could not be started or reached`,
  "provider did not close": ({ provider }) => `${provider} could not be ended in good order`,
  "calls are kept away from a provider that does not answer": ({ provider }) =>
    `${provider} does not answer: calls to it are refused until it does`,
  "upstream server must be allowed first": ({ provider }) =>
    `${provider} wants somebody to sign in; a call to it says where`,
  "no upstream session for a client": ({ provider }) =>
    `${provider} would not begin a session for a client, which sees what everybody sees`,
  "upstream session not remembered": ({ provider }) => `a session at ${provider} would not outlive this process`,
  "upstream session of another process not ended": ({ provider }) =>
    `a session that a former process had at ${provider} could not be ended`,
  "upstream event id too long to go on from": ({ provider }) =>
    `${provider} numbers what it streams by texts too long to keep: a stream that breaks is not taken up again`,
  "upstream message not delivered": ({ provider }) => `${provider} sent a message that could not be handed on`,
  "upstream notification too large": ({ provider, method }) =>
    `${provider} sent a notification (${method}) that is too large, and was left out`,
  "upstream batch not taken": ({ provider }) => `${provider} sent several messages as one, which were not taken`,
  "name in a catalog is taken": ({ catalog, name, target }) =>
    `${target} cannot be shown as ${name}${catalog ? ` in the catalog ${catalog}` : ""}: something else is called so`,
  "call to what is held back": ({ kind, name }) =>
    `somebody asked for the ${kind} ${name}, which is held back: see "${PROGRAM} pin list"`,
  "credentials refused": ({ address }) => `somebody${address ? ` at ${address}` : ""} was not let in`,
  // What is kept and sent.
  "others can get at a file": ({ file, found, fix }) => `${file} ${found}; run: ${fix}`,
  "trust anchor cannot be used": ({ file }) =>
    `a key of those who may approve cannot be used${file === undefined ? "" : ` (${file})`}`,
  "names of a server without a prefix": ({ server, inRules }) =>
    `${server} has no prefix: in rules, bindings and limits ${inRules}`,
  "a rule, grant, limit or catalog names what is not there now: it does nothing": (fields) =>
    `${namedIn(fields)}, which is not there now: it does nothing until it is`,
  "a rule, grant, limit or catalog names what only lists call so: it does nothing": (fields) =>
    `${namedIn(fields)}, which only lists call so: it does nothing; write ${listOf(fields.meant).join(" or ")} instead`,
  "a pattern is spelled as nothing is judged, and so fits nothing": ({ written, meant }) =>
    `the pattern ${written} fits nothing as it is spelled${meant === undefined ? "" : `; ${meant} would`}`,
  "approvals could not be swept": () => "approvals that are over could not be cleared away",
  "blobs swept": ({ count }) => `${count} files that nothing refers to were cleared away`,
  "blob left to the sweep": () => "a file that nothing refers to is cleared away later",
  "deliveries wait for their store": () => "what is to be sent waits until the database answers",
  "delivery given up": ({ channel, attempts }) => `a message (${channel}) was given up after ${attempts} attempts`,
  "outcome of a delivery is not kept": ({ channel }) =>
    `whether a message (${channel}) has arrived could not be written down: it may be sent again`,
  // Clients.
  "too many connections: those that nobody needs are closed, then those of whoever has most": ({ connections }) =>
    `there are ${connections} connections, and no more may be open (see "ulimit -n"): those that nobody needs are closed, then those of whoever has most`,
  "client cut off that does not read": ({ peer }) =>
    `the client at ${peer} was cut off: it does not read what it is sent`,
  "initialize failed inside the gateway": () => "a client could not begin, for a fault in the gateway",
  "subscriptions not renewed": () => "what a client had subscribed to could not be subscribed to again",
  // Faults of our own.
  "listener failed": () => "a part of the gateway failed when it was told of a change",
  "timer failed": () => "a part of the gateway failed when its time had come",
  "stage failed after the end": () => "a part of the gateway failed after the call had its answer",
  "an event could not be handed to its reader": () => "a client could not be told how its call goes on",
  "uncaught exception": () => "the gateway ends, for a fault in it",
  "unhandled rejection": () => "the gateway ends, for a fault in it",
  "gateway did not close": () => "the gateway could not end in good order",
};

function namedIn({ written, server }: LogFields): string {
  return `a rule, grant, limit or catalog is about ${written}${server === undefined ? "" : ` of ${server}`}`;
}

function accessWords(policy: unknown, why: unknown): string {
  if (policy === "opt-in") return "callers may use what they were granted, and nothing else";
  const who = why === "only the local user" ? "whoever is on this machine" : "whoever is known";
  return `${who} may use everything but what was denied`;
}

/** Only this process knows it: in a log that is kept there is no link. */
function pageOf(value: unknown): string | undefined {
  return value instanceof Secret ? value.reveal() : undefined;
}

export function textOf(value: unknown): string | undefined {
  // In a log that was kept an error is an object.
  if (typeof value === "object" && value !== null && "message" in value) return textOf(value.message);
  return typeof value === "string" && value !== "" ? value : undefined;
}
