/** The log level of one upstream session: the lowest of those its client sessions asked for. */
import { decodeString, jsonText, type Payload, payload } from "../../contract/index.ts";
import { LOG_LEVELS } from "../../wire/mcp/index.ts";
import type { Pace } from "./pace.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export class LogLevels {
  readonly #wanted: Map<string, number>;
  readonly #pace: Pace;
  #sent = -1;

  /** `like`: those of a session whose levels are wanted here, too. */
  constructor(pace: Pace, like?: LogLevels) {
    this.#pace = pace;
    this.#wanted = like ? like.#wanted : new Map();
  }

  /** Unknown levels are left out: the front has refused them already. */
  want(session: string, input: Payload): void {
    const level = LOG_LEVELS.indexOf(decodeString(input.at(["level"])) ?? "");
    if (level >= 0) this.#wanted.set(session, level);
  }

  /** The server was told this level, as JSON text, when another process had the session. A newer wish stays. */
  recall(session: string, level: string): void {
    if (!this.#wanted.has(session)) this.want(session, payload(`{"level":${level}}`));
  }

  drop(session: string): void {
    this.#wanted.delete(session);
  }

  /** A new session knows nothing of what its forerunner was told; `known`: the level that this one knows all the same. */
  reset(known?: string): void {
    this.#sent = LOG_LEVELS.indexOf(decodeString(known) ?? "");
  }

  /** The lowest level that is wanted, as JSON text. */
  get lowest(): string | undefined {
    return this.#wanted.size === 0 ? undefined : jsonText(LOG_LEVELS[this.#lowest]);
  }

  /** Tells the server when its level is not the one that is wanted. One of 2026-07-28 hears it with each call. */
  apply(session: UpstreamSession): void {
    if (session.modern || session.agreement?.capabilities.at(["logging"]) === undefined) return;
    if (this.#isNews(this.#lowest)) this.#pace.take(() => this.#tell(session));
  }

  get #lowest(): number {
    return Math.min(...this.#wanted.values());
  }

  #isNews(level: number): boolean {
    return Number.isFinite(level) && level !== this.#sent;
  }

  #tell(session: UpstreamSession): void {
    const level = this.#lowest;
    if (!this.#isNews(level) || session.isOver) return;
    this.#sent = level;
    const params = payload(`{"level":${jsonText(LOG_LEVELS[level])}}`);
    session
      .request("logging/setLevel", params)
      .catch((cause) => session.context.log.debug("log level not set", { cause }));
  }
}
