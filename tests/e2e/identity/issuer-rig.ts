/** A gateway whose callers have tokens of a real authorization server, and an admin who looks at its trail. */
import { TrailWatch } from "../../kit/attack-trace.ts";
import { helloServer } from "../kit/gateway.ts";
import { AuthorizationServer } from "./authorization-server.ts";
import { AuthorizedClient } from "./sdk-clients.ts";
import { freePort, Workspace } from "./workspace.ts";

export class IssuerRig implements AsyncDisposable {
  readonly origin: string;
  readonly issuer: AuthorizationServer;
  readonly trail: TrailWatch;
  readonly #place: Workspace;

  private constructor(origin: string, issuer: AuthorizationServer, place: Workspace, admin: string) {
    this.origin = origin;
    this.issuer = issuer;
    this.#place = place;
    this.trail = new TrailWatch({ origin: () => origin, headers: () => ({ authorization: `Bearer ${admin}` }) });
  }

  static async start(): Promise<IssuerRig> {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const elsewhere = "http://127.0.0.1:1/mcp";
    const issuer = await AuthorizationServer.start({
      [`${origin}/mcp`]: "tools write",
      [`${origin}/hello/mcp`]: "tools write",
      [elsewhere]: "tools write",
    });
    const auth = `[auth]\ntokens = true\nsamePeople = ["tokens"]\nresource = "${origin}/"\nscopes = ["tools"]\n\n[[auth.issuers]]\nurl = "${issuer.issuer}"\n`;
    const access =
      '[access]\ndefaultPolicy = "opt-out"\n\n[[access.scopes]]\nmatch = "hello.add"\nscopes = ["write"]\n';
    const place = new Workspace([auth, access, helloServer()].join("\n"));
    const admin = await place.createToken("--user", "root", "--role", "admin");
    await place.up(`127.0.0.1:${port}`);
    return new IssuerRig(origin, issuer, place, admin);
  }

  /** A good access token for this path. */
  async tokenFor(path: string): Promise<string> {
    await using client = await AuthorizedClient.make("v1");
    await client.connect(this.origin + path, (url) => this.issuer.logIn(url, "ada"));
    return client.auth.tokens()?.access_token ?? "";
  }

  get log(): string {
    return this.#place.log;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}
