import type { ErrorCode } from "../../contract/index.ts";

/** What each failure of an operation is in HTTP. */
export const HTTP_STATUS = {
  BAD_CALL: 422,
  NOT_AUTHENTICATED: 401,
  NOT_ALLOWED: 403,
  NO_SUCH_TARGET: 404,
  OVERLOADED: 429,
  LIMITED: 429,
  CONFIRMATION_REQUIRED: 409,
  CONSENT_REQUIRED: 409,
  DEADLINE_PASSED: 504,
  CANCELLED: 499,
  PROVIDER_UNREACHABLE: 503,
  PROVIDER_FAILED: 502,
  OUTCOME_UNKNOWN: 502,
  NOT_READY: 503,
  STATE_UNAVAILABLE: 503,
  CONFLICT: 409,
  INTERNAL: 500,
} as const satisfies Record<ErrorCode, number>;

/** Of everything that this front answers. */
export const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  428: "Precondition Required",
  429: "Too Many Requests",
  499: "Client Closed Request",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
