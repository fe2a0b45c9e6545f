import { parseDurationMs } from "../../contract/index.ts";
import { Ending } from "../ending.ts";

/** In ms. `option`: as it was typed. Throws Ending. */
export function readDuration(option: string, text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new Ending("usage", [`${option}: expected a duration such as 30d, found ${JSON.stringify(text)}`]);
}
