import type { Principal, Role } from "./principal.ts";

/** What a value must look like, for machines (`json`, a JSON Schema) and as code. */
export interface Schema<Value> {
  readonly json: object;
  check(value: unknown): Checked<Value>;
}

export type Checked<Value> = { readonly value: Value } | { readonly problems: readonly SchemaProblem[] };

/** `path`: a JSON pointer. */
export type SchemaProblem = { readonly path: string; readonly message: string };

/** Something that people and programs do to the gateway itself. Served over HTTP under its path, and described there. */
export type Operation<Input = never, Output = unknown> = {
  /** Such as `policy.exposure.put`; also its operationId. */
  readonly id: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Such as `/api/policy/orgs/{orgId}/exposure`. What stands in braces is part of the input. */
  readonly path: string;
  readonly summary: string;
  /** Who may; "caller": everybody who is known; "anyone": also who is not, because what they send proves itself. */
  readonly role: Role | "caller" | "anyone";
  /** Path parameters, query parameters (as strings) and `body`, in one object. */
  readonly input: Schema<Input>;
  /** Of the body of a successful answer; unset: there is none, 204. */
  readonly output?: Schema<Output>;
  /** It answers with `events`. */
  readonly isStream?: boolean;
  /** False: as the gateway is set up now there is nothing that it could do, and nothing at its path. Absent: always true. */
  readonly isOffered?: () => boolean;
  /** Throws GatewayError; whatever else it throws is a defect. */
  run(input: Input, context: OperationContext): Promise<OperationAnswer<Output>>;
};

/**
 * Whether it changes what holds for callers: then it takes more than to be on the gateway's machine, where agents are, too.
 * Decisions about calls have their own rules about who may make them.
 */
export function isChange({ id, method, role }: Pick<Operation, "id" | "method" | "role">): boolean {
  return method !== "GET" && (role === "operator" || role === "admin") && !id.startsWith("approvals.");
}

/** What somebody is told who has shown nothing but that they are on the machine. */
export const PROOF_WANTED =
  'This changes the gateway, and everybody on this machine is the same local user. Show the token that "isthmus operator token" prints, as the command line does, or set up [auth].';

/** What somebody is told whose token is for single endpoints. */
export const WHOLE_WANTED = "This needs a token for the whole gateway; this one is for single endpoints.";

export type OperationContext = {
  readonly principal: Principal;
  /** What the caller takes to be the present version, as it was told in `etag`. */
  readonly ifMatch?: string;
  /** The trace that the caller says it belongs to, a UUID. */
  readonly traceId?: string | undefined;
};

export type OperationAnswer<Output> = {
  readonly body?: Output;
  /** By default 200, or 204 without a body. */
  readonly status?: number;
  /** The version of what was answered. */
  readonly etag?: string;
  /** Instead of a body: lines that come as things happen, until `signal` says that nobody listens. */
  readonly events?: (write: (event: string, data: string) => void, signal: AbortSignal) => void;
};
