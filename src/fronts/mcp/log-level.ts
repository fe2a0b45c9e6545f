import { decodeString, type Payload } from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import { LOG_LEVELS } from "../../wire/mcp/index.ts";

/** Whether a client that set a level wants this message. */
export function passesLevel(session: Session, message: Payload): boolean {
  return session.logLevel === undefined || reachesLevel(session.logLevel, message);
}

/** Whether a message is at least that severe. Levels we do not know pass. */
export function reachesLevel(least: string, message: Payload): boolean {
  const level = LOG_LEVELS.indexOf(decodeString(message.at(["level"])) ?? "");
  return level < 0 || level >= LOG_LEVELS.indexOf(least);
}
