/** What a gateway is to whoever runs it. */
import type { Operation, ProviderStatus } from "../contract/index.ts";
import type { StdioOptions } from "../fronts/mcp/index.ts";
import type { Config, ConfigDifference, ConfigSource, ListenAddress, ServerConfig } from "./config/index.ts";
import type { ConfigFollower } from "./follow-config.ts";

export type ServerSummary = {
  readonly id: string;
  readonly status: ProviderStatus;
  readonly tools: number;
  /** Why it is not ok; may hold a server's own words. */
  readonly message?: string;
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
  /** Takes no more connections, lets open calls end for `drain`, then closes everything. Safe to call twice. */
  close(): Promise<void>;
}
