/** Who has the address that a gateway was to have. */
import { resolve } from "node:path";
import { ownToken } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import { sendAsOperator } from "./send-as-operator.ts";

export type Listener = {
  /** It has shown that whoever runs it is who asks. */
  readonly isOwn: boolean;
  /** The files of its config, where it has said; none: it is the demo. */
  readonly files: readonly string[] | undefined;
};

const TIMEOUT_MS = 2_000;

/** Undefined where it is no Isthmus, or nobody. */
export async function findListener(url: URL): Promise<Listener | undefined> {
  const home = { method: "GET", url: new URL("/", url), timeoutMs: TIMEOUT_MS, isAnonymous: true };
  const { name } = await bodyOf(httpSend(home));
  if (name !== "isthmus") return undefined;
  // A token of the environment is for the gateway that its owner means, and not for whoever listens here.
  if (ownToken() !== undefined) return { isOwn: false, files: undefined };
  const about = await bodyOf(sendAsOperator({ method: "GET", url: new URL("/api/about", url), timeoutMs: TIMEOUT_MS }));
  const files = filesIn(about);
  return { isOwn: files !== undefined && about.role === "admin", files };
}

/** Of what a gateway says of itself: the files of its config, where it says. */
export function filesIn({ config }: JsonObject): readonly string[] | undefined {
  return Array.isArray(config) ? listOf(config).flatMap((file) => textOf(file) ?? []) : undefined;
}

async function bodyOf(answer: Promise<HttpAnswer>): Promise<JsonObject> {
  try {
    return objectOf(jsonOf(await answer));
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Ending) return {};
    throw error;
  }
}

/** Who it is. */
export function listenerText({ isOwn, files }: Listener): string {
  if (!isOwn) return "another Isthmus";
  return `your gateway, with ${files?.length ? files.join(", ") : "the built-in demo"},`;
}

/** Whether it runs with these files. */
export function runsWith({ files }: Pick<Listener, "files">, own: readonly string[]): boolean {
  const whole = (paths: readonly string[]) => paths.map((path) => resolve(path)).join("\n");
  return own.length > 0 && files !== undefined && whole(files) === whole(own);
}
