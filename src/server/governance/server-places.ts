/**
 * Where calls of a server go: a yes to a call of it is to one that goes there. Where its table comes to name another address, program,
 * account or setting, the same name is something else, though it may say the same of itself.
 */
import { createHash } from "node:crypto";
import { comparable } from "../config/check-reload.ts";
import type { Config, ServerConfig } from "../config/index.ts";

export class ServerPlaces {
  #digests: ReadonlyMap<string, string> = new Map();

  constructor(config: Config) {
    this.apply(config);
  }

  apply({ servers }: Config): void {
    this.#digests = new Map(servers.map((server) => [server.id, digestOf(server)]));
  }

  /** "" for a server that is not there. It is written down with approvals: no value can be read in it. */
  of(server: string): string {
    return this.#digests.get(server) ?? "";
  }
}

/** The same config may lie in another folder after a restart, and in the other processes of a gateway: a folder counts as it is written. */
function digestOf({ transport, url, command, args, writtenCwd, env, headers, auth }: ServerConfig): string {
  const place = transport === "stdio" ? { command, args, writtenCwd, env } : { url, headers, auth };
  return createHash("sha256")
    .update(comparable({ transport, ...place }))
    .digest("base64url")
    .slice(0, 16);
}
