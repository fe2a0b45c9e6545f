/** As the prober beside it, for what is there only where callers are known: tokens, policy, approvals, the audit trail. */
import { type KeyObject, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { signProof } from "../../../src/cli/operator/sign-proof.ts";
import { Exchanger, type Got } from "../clients/exchange.ts";
import { sendModern } from "../clients/modern-request.ts";
import type { Effect, GovernedProbe } from "../outages.ts";
import { effectOf } from "../prober.ts";
import type { Name, People } from "./people.ts";

type Gate = Readonly<Record<string, unknown>> & { readonly confirmation_id: string };

const PREPARING_MS = 40_000;

export type GovernedProberOptions = {
  /** Of the gateway that is asked. */
  readonly origin: string;
  /** Of another one, at which things are prepared that the first must not know yet. */
  readonly elsewhere: string;
  readonly people: People;
  readonly operatorKey: KeyObject;
};

export class GovernedProber {
  readonly #options: GovernedProberOptions;
  #fresh = "";
  #revoked = "";
  #victim = "";
  #waiting: Gate | undefined;
  readonly #approved = { mark: "" };

  constructor(options: GovernedProberOptions) {
    this.#options = options;
  }

  /** The mark of the call that was approved, and may be made once. */
  get approvedMark(): string {
    return this.#approved.mark;
  }

  /** While everything is well. The outage before may still be felt for a moment. */
  async prepare(): Promise<void> {
    const until = performance.now() + PREPARING_MS;
    for (;;) {
      try {
        return await this.#prepare();
      } catch (error) {
        if (performance.now() > until) throw new Error("the probes could not be prepared", { cause: error });
        await wait(200);
      }
    }
  }

  async #prepare(): Promise<void> {
    const { elsewhere } = this.#options;
    this.#fresh = (await this.#newToken(elsewhere)).token;
    this.#victim = (await this.#newToken(elsewhere)).id;
    const revoked = await this.#newToken(elsewhere);
    this.#revoked = revoked.token;
    // The gateway that is asked has seen it, too.
    await this.#call(this.#revoked, "modern.echo", randomUUID());
    await this.#api("DELETE", `/api/tokens/${revoked.id}`, undefined, elsewhere);
    for (const name of ["ada", "ben", "gil"] as const)
      await this.#call(this.#tokenOf(name), "modern.echo", randomUUID());
    this.#approved.mark = `probe-approved-${randomUUID()}`;
    const [waiting, approved] = await Promise.all([
      this.#gate(`probe-waiting-${randomUUID()}`),
      this.#gate(this.#approved.mark),
    ]);
    this.#waiting = waiting;
    const { text } = await this.#confirm(approved);
    if (!text.includes('"approved"')) throw new Error(`not approved: ${text}`);
  }

  async #newToken(origin: string): Promise<{ id: string; token: string }> {
    const { status, text } = await this.#api("POST", "/api/tokens", { user: "ada", tenant: "acme" }, origin);
    if (status !== 201) throw new Error(`no token: ${status} ${text}`);
    return JSON.parse(text) as { id: string; token: string };
  }

  /** What a caller is told who asks for what must be approved. */
  async #gate(mark: string): Promise<Gate> {
    const { text } = await this.#call(this.#tokenOf("gil"), "modern.wipe", mark);
    const answer = JSON.parse(text.slice(text.indexOf("{"))) as { result?: { _meta?: Record<string, Gate> } };
    const gate = answer.result?._meta?.["x-mcpax-gate"];
    if (!gate) throw new Error(`no gate: ${text}`);
    return gate;
  }

  async probe(probe: GovernedProbe): Promise<Effect | string> {
    return await effectOf(() => this.#ask(probe));
  }

  #ask(probe: GovernedProbe): Promise<Got> {
    const mark = `probe-${randomUUID()}`;
    switch (probe) {
      case "call with a token that was seen before":
        return this.#call(this.#tokenOf("ada"), "modern.echo", mark);
      case "call with a token that was not seen before":
        return this.#call(this.#fresh, "modern.echo", mark);
      case "call with a token that was revoked":
        return this.#call(this.#revoked, "modern.add", mark);
      case "call that a policy forbids":
        return this.#call(this.#tokenOf("ben"), "modern.add", mark);
      case "call that is recorded":
        return this.#call(this.#tokenOf("ada"), "modern.add", mark);
      case "call that must be approved first":
        return this.#asked(this.#call(this.#tokenOf("gil"), "modern.wipe", mark));
      case "yes or no to a call that waits":
        return this.#confirm(this.#waiting);
      case "call that was approved":
        return this.#asked(this.#call(this.#tokenOf("gil"), "modern.wipe", this.#approved.mark));
      case "new token":
        return this.#api("POST", "/api/tokens", { user: "nobody", tenant: "acme" });
      case "revocation of a token":
        return this.#done(this.#api("DELETE", `/api/tokens/${this.#victim}`));
      case "look at the audit trail":
        return this.#found(this.#api("GET", "/api/audit?limit=1"));
      case "change of a grant":
        return this.#api("POST", "/api/access/grant", {
          ...{ entry_type: "server_grant", agent_id: mark, server_id: "modern" },
        });
    }
  }

  #tokenOf(name: Name): string {
    return this.#options.people.of(name).token;
  }

  async #call(token: string, tool: string, mark: string): Promise<Got> {
    const { origin, people } = this.#options;
    const exchanger = new Exchanger(`${origin}/mcp`, { token, attempts: people.attempts });
    const params = { name: tool, arguments: { mark } };
    const got = await sendModern(exchanger, { id: 1, method: "tools/call", params, name: "prober" });
    exchanger.close();
    return got;
  }

  async #api(method: "GET" | "POST" | "DELETE", path: string, body?: object, at = this.#options.origin): Promise<Got> {
    const exchanger = new Exchanger(`${at}${path}`, { token: this.#options.people.rootToken });
    const headers = { "content-type": "application/json" };
    const got = await exchanger.send({ method, headers, ...(body && { body: JSON.stringify(body) }) });
    exchanger.close();
    return got;
  }

  async #confirm(gate: Gate | undefined): Promise<Got> {
    const { origin, operatorKey } = this.#options;
    const value = signProof({ file: "", key: operatorKey }, { ...gate }, "approve");
    const proof = { type: "operator_signature", format: "jws", value };
    const params = { confirmation_id: gate?.confirmation_id, decision: "approve", proof };
    const exchanger = new Exchanger(`${origin}/mcpax/confirm`, { token: this.#tokenOf("olga") });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "mcpax/confirm", params });
    const got = await exchanger.send({ method: "POST", headers: { "content-type": "application/json" }, body });
    exchanger.close();
    return got.text.includes("already_approved") ? { ...got, text: "{}" } : got;
  }

  /** To be told that somebody must say yes is to be served. */
  async #asked(asking: Promise<Got>): Promise<Got> {
    const got = await asking;
    return got.text.includes('"CONFIRMATION_REQUIRED"') ? { ...got, text: "{}" } : got;
  }

  /** What stands there is not about this request. */
  async #found(asking: Promise<Got>): Promise<Got> {
    const got = await asking;
    return got.status === 200 ? { ...got, text: "{}" } : got;
  }

  /** What is gone was taken away by the probe before. */
  async #done(asking: Promise<Got>): Promise<Got> {
    const got = await asking;
    return got.status === 404 ? { ...got, status: 204, text: "" } : got;
  }
}
