import { JsonFault } from "./json/scanner.ts";

const brand: unique symbol = Symbol.for("isthmus.error") as never;

type ErrorRow = { retry: "never" | "later" | "caller"; message: string; cause: string; cure: string };

/** In `_meta` of a result: the gateway's own error in the place of one. Nobody behind it may say this. */
export const ERROR_KEY = "dev.isthmus/error";

/**
 * Every way a call can fail. Adding a code is a public change: fronts must map it.
 * `retry`: never (the same call fails again), later (the same call may succeed after a while), caller (only the caller can judge).
 */
export const ERROR_CODES = {
  BAD_CALL: {
    retry: "never",
    message: "The call is not valid.",
    cause: "The message or its parameters are malformed, repeat a key, or are larger or deeper than the limits allow.",
    cure: "Read the message of the answer: it names the place. Send each key once, unescaped, and keep bodies under `maxBody`.",
  },
  NOT_AUTHENTICATED: {
    retry: "never",
    message: "Credentials are missing or not accepted.",
    cause: "The caller sent no credentials, or ones the gateway does not know.",
    cure: "Send valid credentials, and check that they have not expired or been revoked.",
  },
  NOT_ALLOWED: {
    retry: "never",
    message: "The caller may not make this call.",
    cause:
      "A page that the server asked the user to visit was not visited, or a policy or the server itself does not let this caller make the call.",
    cure: "Visit the page and call again, or ask the operator of the gateway or of the server.",
  },
  NO_SUCH_TARGET: {
    retry: "never",
    message: "No provider offers this target.",
    cause: "The name is not in the list this caller sees, or the server that offered it is gone.",
    cure: 'List again and use a name from the list; look at `_meta["dev.isthmus/servers"]` there for servers that are down.',
  },
  OVERLOADED: {
    retry: "later",
    message: "The gateway is at its limit for this caller.",
    cause:
      "A queue, a slot count or a journal is full: the server is slower than its callers, or a reader stopped reading. Or there is no memory for more messages now.",
    cure: "Try again after a short wait; raise `concurrency` of the server if it can take more, or give the gateway more memory.",
  },
  LIMITED: {
    retry: "later",
    message: "The rate limit of this caller is reached.",
    cause:
      "A limit is reached that is for this call: too many in a time, too many at once, or more than its budget has. Nothing was done.",
    cure: "Wait for the time given in the answer. Without one a budget is spent, which only the operator of the gateway can raise.",
  },
  CONFIRMATION_REQUIRED: {
    retry: "later",
    message: "Somebody must approve this call before it is made.",
    cause:
      "The tool changes something that cannot be taken back, or a rule of the operator's wants a person to say yes.",
    cure: "Wait until it is approved (`isthmus approve`), then make the same call again: it joins the approval.",
  },
  CONSENT_REQUIRED: {
    retry: "later",
    message: "Somebody must let the gateway use this server first.",
    cause: "The server wants a token of the caller's, and there is none, or it was refused and could not be renewed.",
    cure: "Open the link in the answer, sign in there, and make the same call again.",
  },
  DEADLINE_PASSED: {
    retry: "caller",
    message: "The call ran out of time.",
    cause:
      "The server did not answer before the call's deadline, or had no free slot for it until then; the message says which.",
    cure: "Raise `timeout` of the server when the tool is slow by nature, or run it as a task.",
  },
  CANCELLED: {
    retry: "never",
    message: "The caller went away.",
    cause: "The call was cancelled by its caller, or the gateway is shutting down.",
    cure: "Nothing to do; call again if the answer is still wanted.",
  },
  PROVIDER_UNREACHABLE: {
    retry: "later",
    message: "The provider did not answer.",
    cause: "The server could not be started or reached, or refused the connection. Nothing was sent to it.",
    cure: "Check that the server runs and that `command` or `url` in the config is right; its last words are in the gateway's log.",
  },
  PROVIDER_FAILED: {
    retry: "caller",
    message: "The provider's answer could not be used.",
    cause: "The server answered with something that is not a valid message, or closed the stream without an answer.",
    cure: "Look at the gateway's log line for this call id, then at the server's own log.",
  },
  OUTCOME_UNKNOWN: {
    retry: "caller",
    message: "The provider was lost after it was told; whether it acted is not known.",
    cause:
      "The connection, the server or the process of the gateway died after the call had been sent, and the tool is not declared idempotent or read-only.",
    cure: "Find out whether the action happened before calling again. A client that gives its calls idempotency keys can ask again without fear.",
  },
  NOT_READY: {
    retry: "later",
    message: "The provider is still starting.",
    cause: "The server has not finished its start, or the gateway is draining.",
    cure: "Try again in a few seconds; `/readyz` says when every server has answered once.",
  },
  STATE_UNAVAILABLE: {
    retry: "later",
    message: "The store behind the gateway does not answer.",
    cause: "Redis or the database is down, or too slow, and what was asked cannot be done safely without it.",
    cure: "Try again after a short wait; the operator finds the store's name in the gateway's log and in `/readyz`.",
  },
  CONFLICT: {
    retry: "caller",
    message: "The call conflicts with another one.",
    cause:
      "Two calls want the same thing at the same time, for example two answers to one question; or the answer of a call with an idempotency key was too large to be kept for a repeat.",
    cure: "Look at the present state and decide again.",
  },
  INTERNAL: {
    retry: "never",
    message: "The gateway failed.",
    cause: "A defect in the gateway. The log holds the cause under the same call id.",
    cure: "Report it with the log line.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * The only error that crosses a folder boundary.
 * `message` and `details` may be shown to the caller; `cause` is for the log alone.
 */
export class GatewayError extends Error {
  readonly [brand] = true;
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, options: { message?: string; details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(options.message ?? ERROR_CODES[code].message, { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  /** True for errors made by any copy of this package; `instanceof` is not. */
  static is(value: unknown): value is GatewayError {
    return typeof value === "object" && value !== null && brand in value;
  }

  /** Wraps whatever was thrown, once, at the kernel boundary. */
  static from(value: unknown): GatewayError {
    return GatewayError.is(value) ? value : new GatewayError("INTERNAL", { cause: value });
  }
}

/** What a call ends with where this was thrown before it was sent: input that two readers could read differently is its caller's fault. */
export function callError(thrown: unknown): GatewayError {
  if (thrown instanceof JsonFault)
    return new GatewayError("BAD_CALL", { message: `The input is ambiguous: ${thrown.message}.` });
  return GatewayError.from(thrown);
}
