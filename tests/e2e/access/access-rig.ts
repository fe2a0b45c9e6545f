/** A gateway with tokens and two servers that write down what they get, and the callers of it. */
import { join } from "node:path";
import { Workspace } from "../identity/workspace.ts";
import { ROOT } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";

const SERVER = join(ROOT, "tests/e2e/access/watched-server.mjs");

export const GRANT = { entry_type: "server_grant", agent_id: "ann", server_id: "files" };

export class Rig {
  readonly place = new Workspace("");
  readonly seen = this.place.write("seen", "");
  readonly tokens = { admin: "", ann: "", bob: "" };
  origin = "";

  constructor(access: string, auth = "[auth]\ntokens = true\n") {
    const servers = ["files", "docs"].map((id) => {
      const args = JSON.stringify([SERVER, id, this.seen]);
      return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
    });
    this.place.write("isthmus.toml", [auth, ...servers, access].join("\n"));
  }

  async open(): Promise<void> {
    this.tokens.admin = await this.place.createToken("--user", "root", "--role", "admin");
    this.tokens.ann = await this.place.createToken("--user", "ann");
    this.tokens.bob = await this.place.createToken("--user", "bob");
    this.origin = await this.place.up("127.0.0.1:0");
  }

  as(user: keyof Rig["tokens"]): Record<string, string> {
    return { authorization: `Bearer ${this.tokens[user]}` };
  }

  async api(method: string, path: string, body?: object, headers: Record<string, string> = this.as("admin")) {
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      etag: response.headers.get("etag") ?? "",
      body: text === "" ? undefined : JSON.parse(text),
    };
  }

  async tools(user: keyof Rig["tokens"]): Promise<string[]> {
    const { messages } = await post(`${this.origin}/mcp`, { id: 1, method: "tools/list" }, this.as(user));
    return namesIn(messages[0]);
  }

  async call(user: keyof Rig["tokens"], name: string, args: object = {}, headers: Record<string, string> = {}) {
    const {
      status,
      messages,
      headers: told,
    } = await post(`${this.origin}/mcp`, toolCall(1, name, args), { ...this.as(user), ...headers });
    return { status, message: messages[0], challenge: told.get("www-authenticate") ?? "" };
  }
}

/** A session of somebody with an open stream, and all that comes on it. */
export class Listener implements AsyncDisposable {
  readonly session: Record<string, string>;
  readonly #life = new AbortController();
  #heard = "";

  private constructor(session: Record<string, string>) {
    this.session = session;
  }

  static async open(rig: Rig, user: keyof Rig["tokens"]): Promise<Listener> {
    const url = `${rig.origin}/mcp`;
    const listener = new Listener({ ...(await openSession(url, {}, rig.as(user))), ...rig.as(user) });
    await post(url, { id: 1, method: "tools/list" }, listener.session);
    const headers = { accept: "text/event-stream", ...listener.session };
    const { body } = await fetch(url, { headers, signal: listener.#life.signal });
    void listener.#hear(body).catch(() => undefined);
    return listener;
  }

  async #hear(body: Response["body"]): Promise<void> {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) this.#heard += chunk;
  }

  count(text: string): number {
    return this.#heard.split(text).length - 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort();
  }
}

export const namesIn = (message: RpcMessage | undefined) =>
  ((message?.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
export const isAnswered = ({ message }: { message: RpcMessage | undefined }) =>
  message?.error === undefined && message?.result?.isError !== true;
