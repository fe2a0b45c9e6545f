/** A user of the company: a home, the company's network, and a config with one server that is fetched before it runs. */
import { expect } from "vitest";
import { Workspace } from "../cli/workspace.ts";
import { CompanyNetwork, type Files } from "./company-network.ts";

export type Fetched = {
  readonly command: string;
  readonly args: readonly string[];
  /** What the registry has of it. */
  pack(folder: string, registryUrl: string): Files;
  /** Where the registry is asked for it. */
  readonly path: string;
  readonly env?: Environment;
};

export type Finding = { readonly what: string; readonly found: string; readonly advice?: string };

type Environment = Readonly<Record<string, string>>;

export class Company implements AsyncDisposable {
  readonly workspace: Workspace;
  readonly network: CompanyNetwork;
  readonly #fetched: Fetched;

  private constructor(fetched: Fetched, workspace: Workspace, network: CompanyNetwork) {
    this.#fetched = fetched;
    this.workspace = workspace;
    this.network = network;
  }

  static async open(fetched: Fetched): Promise<Company> {
    const { command, args, pack } = fetched;
    const workspace = new Workspace();
    const server = `[[servers]]\nid = "notes"\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${server}`);
    return new Company(fetched, workspace, await CompanyNetwork.open(workspace.folder, pack));
  }

  /** Writes a file of the user's own. Gives the environment in which it is found: by this variable, or where programs look. */
  write(name: string, text: string, variable?: string): Environment {
    const file = this.workspace.write(name, text);
    return variable === undefined ? {} : { [variable]: file };
  }

  /** Through the proxy, with trust in the company's authority; and then it works. */
  async expectFetched(env: Environment): Promise<void> {
    const { code, stdout, stderr } = await this.#run(["call", "notes.env", "name=HOME"], env);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `${this.#home}\n` });
    expect(this.network.asked).toContain(this.#fetched.path);
  }

  /** What doctor finds about the server. */
  async finding(env: Environment): Promise<Finding | undefined> {
    const { stdout, stderr } = await this.#run(["doctor", "--timeout", "4s", "--json"], env);
    const findings: Finding[] = JSON.parse(stdout || stderr).findings;
    return findings.find(({ what }) => what === "servers.notes");
  }

  #run(args: readonly string[], env: Environment) {
    return this.workspace.start(args, { HOME: this.#home, ...this.#fetched.env, ...env }).ended;
  }

  get #home(): string {
    return this.workspace.path("home");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.network[Symbol.asyncDispose]();
    await this.workspace[Symbol.asyncDispose]();
  }
}
