/** Folders may have configs with one address: the gateway that is found there then runs with another config than the one here. */
import type { GatewayPlace } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { jsonOf } from "../client/http-get.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf } from "../json.ts";
import { say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { filesIn, runsWith } from "./find-listener.ts";
import { sendAsOperator } from "./send-as-operator.ts";

const TIMEOUT_MS = 2_000;

type Files = Pick<GatewayPlace, "files">;

/** What a gateway says of itself to whoever runs it, or to whom a token names; empty where it says nothing. */
export async function aboutGateway(url: URL): Promise<JsonObject> {
  try {
    const order = { method: "GET", url: new URL("/api/about", url), timeoutMs: TIMEOUT_MS };
    return objectOf(jsonOf(await sendAsOperator(order)));
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Ending) return {};
    throw error;
  }
}

/** With which config a gateway runs that says so, where it is another than this one. */
export function otherConfig(about: JsonObject, { files: own = [] }: Files): string | undefined {
  const files = filesIn(about);
  const isDemo = files?.length === 0 && own.length === 0;
  if (!files || isDemo || runsWith({ files }, own)) return undefined;
  return plainLine(files.join(", ")) || "the built-in demo";
}

/** In one line; undefined: it runs with this config, or does not say, or there is none here that it could be expected to have. */
export function otherConfigLine(url: URL, about: JsonObject, { files = [] }: Files): string | undefined {
  const other = files.length === 0 ? undefined : otherConfig(about, { files });
  return other && `the gateway at ${url.origin} runs with ${other}, and not with ${files.join(", ")}`;
}

/** By a verb that would change something there, which its user did not ask for. Throws Ending. */
export function refuseOtherConfig(url: URL, about: JsonObject, place: Files): void {
  const line = otherConfigLine(url, about, place);
  if (line) throw new Ending("unreachable", [line, `nothing was changed; to change that one say --url ${url.origin}`]);
}

/** By a verb that only looks, and goes on with the gateway there all the same. */
export function sayOtherConfig(url: URL, about: JsonObject, place: Files): void {
  const line = otherConfigLine(url, about, place);
  if (line) say(line);
}
