/**
 * One suite of attacks, run twice: against one process that keeps its state in files, and against three that are one
 * gateway on Redis and PostgreSQL. What holds in one process only does not hold.
 *
 *     describeAttacks("tenants", { config: `[auth]\ntokens = true\n${helloServer()}`, tokens: { ann: ["--user", "ann"] } }, (field) => {
 *       test("…", async () => expect((await field.rpc(toolCall(1, "hello.greet", {}), { as: "ann" })).status).toBe(200));
 *     });
 */
import { afterAll, beforeAll, describe } from "vitest";
import { post, type RpcResponse } from "../../e2e/kit/rpc.ts";
import { describeMissing, missingOf } from "../../needs/need.ts";
import { needsOfFile } from "../../needs/needs-of-file.ts";
import { type Field, type FieldOptions, startOne } from "./field.ts";

export type Way = {
  /** The name of a token of the options; unset: nobody. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The place of the process; unset: the next one in turn. */
  readonly at?: number;
};

export type Attacked = {
  /** 1 or 3. */
  readonly processes: number;
  /** Without a place it is the next one in turn, so that what an attacker does goes from process to process. */
  origin(at?: number): string;
  /** The header of a token. */
  as(user: string): Record<string, string>;
  token(user: string): string;
  /** One JSON-RPC message to `/mcp`, or to the catalog's path. */
  rpc(message: object, way?: Way & { readonly catalog?: string }): Promise<RpcResponse>;
  api(method: string, path: string, body?: object, way?: Way): Promise<{ status: number; body: unknown; text: string }>;
  /** Runs a verb with the gateway's config. */
  run: Field["run"];
  /** Where a process keeps its config and what else it leaves on disk. */
  folder: Field["folder"];
  /** The home folder of whoever runs it. */
  home(): string;
  /** What all processes have written to their logs. */
  log(): string;
};

/** What the three processes need of the machine. Who lacks it sees what one process does, and in a title what is missing. */
const MISSING = missingOf(needsOfFile("tests/attacks/kit/field-of-three.ts"));

/** `suite` gets an object that works inside tests and hooks. */
export function describeAttacks(name: string, options: FieldOptions, suite: (attacked: Attacked) => void): void {
  describe(`${name} in one process`, () => attack(1, () => startOne(options), suite));
  describeThree(name, () => attack(3, () => startThree(options), suite));
}

/** What is about three processes only. */
export function describeThree(name: string, suite: () => void): void {
  const lacking = MISSING.length === 0 ? "" : `, left out: ${describeMissing(MISSING)}`;
  describe.skipIf(MISSING.length > 0)(`${name} in three processes${lacking}`, suite);
}

export async function startThree(options: FieldOptions): Promise<Field> {
  // Imported only now: one process needs nothing but Node.
  const three = await import("./field-of-three.ts");
  return three.startThree(options);
}

function attack(processes: number, start: () => Promise<Field>, suite: (attacked: Attacked) => void): void {
  let field: Field | undefined;
  beforeAll(async () => {
    field = await start();
  });
  afterAll(() => field?.[Symbol.asyncDispose]());
  suite(attackedOf(() => field ?? fail(), processes));
}

function attackedOf(field: () => Field, processes: number): Attacked {
  let turn = 0;
  const origin = (at?: number) => field().origins[at ?? turn++ % processes] ?? fail();
  const token = (user: string) => field().tokens[user] ?? fail(`no token of ${user}`);
  const as = (user: string) => ({ authorization: `Bearer ${token(user)}` });
  const headersOf = ({ as: user, headers = {} }: Way) => ({ ...(user !== undefined && as(user)), ...headers });
  return {
    processes,
    origin,
    as,
    token,
    rpc: (message, way = {}) =>
      post(`${origin(way.at)}${way.catalog ? `/${way.catalog}` : ""}/mcp`, message, headersOf(way)),
    async api(method, path, body, way = {}) {
      const response = await fetch(`${origin(way.at)}${path}`, {
        method,
        headers: { ...(body && { "content-type": "application/json" }), ...headersOf(way) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "");
      return { status: response.status, body: isJson && text !== "" ? JSON.parse(text) : undefined, text };
    },
    run: (args, env) => field().run(args, env),
    folder: (at) => field().folder(at),
    home: () => field().home,
    log: () => field().log(),
  };
}

function fail(why = "the gateway has not started"): never {
  throw new Error(why);
}
