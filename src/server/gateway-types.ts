/** What a gateway is to whoever runs it. */
import type { Operation, ProviderStatus } from "../contract/index.ts";
import type { StdioOptions } from "../fronts/mcp/index.ts";
import type { NameOfNothing } from "../mechanisms/access/index.ts";
import type { Config, ConfigDifference, ConfigSource, ListenAddress, ServerConfig } from "./config/index.ts";
import type { ConfigFollower } from "./follow-config.ts";

export type ServerSummary = {
  readonly id: string;
  /** "disabled": the config leaves it out. */
  readonly status: ProviderStatus | "disabled";
  readonly tools: number;
  /** Why it is not ok, or what is left out of its lists although it is; may hold a server's own words. */
  readonly message?: string;
  /** What its program wrote to standard error last, of one that is not ok. For operators: callers are not told. */
  readonly lastWords?: readonly string[];
  /** What its config says about it in MGP's words; known before it is reached. */
  readonly mgp?: ServerConfig["mgp"];
};

/** What another config changed. `settled` resolves when each new server has listed or failed once, at the latest after 5 s. */
export type ConfigChange = ConfigDifference & { readonly settled: Promise<void> };

export interface Gateway {
  /** What is in force. */
  readonly config: Config;
  /** Watches where the config comes from, and takes it over when it changes, until the gateway closes. */
  follow(source: ConfigSource, onTaken?: (change: ConfigChange) => void): ConfigFollower;
  /**
   * Takes over another config in one step. Servers whose table is the same go on untouched; the others are replaced, and
   * calls on them may end for `drain`. Settings that cannot change must have been refused before.
   */
  apply(next: Config): ConfigChange;
  hasCatalog(id: string): boolean;
  /** What is served under `/api`. */
  operations(): Promise<readonly Operation[]>;
  /** Starts the servers and listens. Resolves with the address as soon as it answers; servers come up behind it. */
  listen(): Promise<ListenAddress>;
  /** Starts the servers and serves one client. Resolves when `input` ends. */
  serveStdio(client: StdioOptions): Promise<void>;
  /** Does one operation as the local user, without starting anything else. Rejects with GatewayError. */
  operate(id: string, input: unknown): Promise<unknown>;
  /** Resolves when each server has listed or failed once, at the latest 5 s after the start. */
  settled(): Promise<void>;
  servers(): ServerSummary[];
  /** Whether callers are asked who they are, and nothing lets any of them use anything. */
  grantsNothing(): boolean;
  /** What policy and limits say about names that nothing has, and so about nothing. */
  misnamed(): readonly NameOfNothing[];
  /** Whether callers are known by tokens of this gateway, and there are none. Rejects where the store is away. */
  lacksTokens(): Promise<boolean>;
  /** Takes no more connections, lets open calls end for `drain`, then closes everything. Safe to call twice. */
  close(): Promise<void>;
}
