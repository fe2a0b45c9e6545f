/** Who calls: people of two tenants, with tokens that the gateways gave them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ownEnvironment } from "../../kit/own-home.ts";
import type { Caller } from "../clients/exchange.ts";
import { Api } from "./api.ts";
import { Attempts } from "./attempts.ts";

const run = promisify(execFile);

type Person = { readonly tenant: string; readonly groups?: readonly string[]; readonly role?: string };

/** admins of their tenants are the operators who look at what waits. */
const PEOPLE = {
  ada: { tenant: "acme", groups: ["staff"] },
  ann: { tenant: "acme" },
  cat: { tenant: "acme" },
  gil: { tenant: "acme" },
  olga: { tenant: "acme", role: "admin" },
  bob: { tenant: "globex", groups: ["staff"] },
  ben: { tenant: "globex" },
  gus: { tenant: "globex" },
  otto: { tenant: "globex", role: "admin" },
} as const satisfies Record<string, Person>;
export type Name = keyof typeof PEOPLE;

export type People = {
  /** Of the platform itself. */
  readonly root: Api;
  readonly rootToken: string;
  readonly attempts: Attempts;
  of(name: Name): Caller;
};

/** The first token, made by whoever may use the stores. */
export async function firstToken(program: string, folder: string): Promise<string> {
  const words = ["token", "create", "--user", "root", "--role", "admin", "--config", "isthmus.toml"];
  const { stdout } = await run(process.execPath, [program, ...words], { cwd: folder, env: ownEnvironment() });
  return stdout.trim();
}

export async function gatherPeople(origin: string, rootToken: string): Promise<People> {
  const root = new Api(origin, rootToken);
  const attempts = new Attempts();
  const made = Object.entries<Person>(PEOPLE).map(async ([user, { tenant, groups = [], role }]) => {
    const { body } = await root.insist("POST", "/api/tokens", { user, tenant, groups, ...(role && { role }) });
    return [user, { token: String(body.token), attempts }] as const;
  });
  const tokens = new Map<string, Caller>(await Promise.all(made));
  return {
    root,
    rootToken,
    attempts,
    of(name) {
      const caller = tokens.get(name);
      if (!caller) throw new Error(`${name} has no token`);
      return caller;
    },
  };
}
