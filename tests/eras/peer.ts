/** A client as the features need it, whatever its SDK and revision, and what it has heard and been asked. */
import type { Json, Message } from "./sdk.ts";

export type CallToolOptions = {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Json) => void;
};

export interface Peer {
  /** Whether the connection speaks 2026-07-28. */
  readonly isModern: boolean;
  listTools(): Promise<string[]>;
  callTool(name: string, args: Json, options?: CallToolOptions): Promise<Json>;
  listResources(): Promise<string[]>;
  listResourceTemplates(): Promise<string[]>;
  readResource(uri: string): Promise<Json>;
  listPrompts(): Promise<string[]>;
  getPrompt(name: string, args: Json): Promise<Json>;
  complete(prompt: string, argument: string, value: string): Promise<string[]>;
  /** From now on; undefined ends it where the revision knows an end. */
  setLogLevel(level: string | undefined): Promise<void>;
  /** Each resolves with what ends it. */
  subscribe(uri: string): Promise<() => Promise<void>>;
  watchLists(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** No answer within this time is a failure. */
export const TIMEOUT_MS = 4_000;

/** What an answer takes, so that two questions at once are open together. */
const THINKING_MS = 100;

export const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };
export const INFO = { name: "isthmus-eras", version: "1.0.0" };

export const QUESTIONS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;
export const NOTIFICATIONS = [
  "notifications/message",
  "notifications/resources/updated",
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
] as const;

/** Everything that came unasked, in order. */
export class Ear {
  readonly heard: Message[] = [];
  readonly asked: string[] = [];
  /** How many questions were open at once, at most. */
  mostOpen = 0;
  #open = 0;

  hear(message: Message): void {
    this.heard.push(message);
  }

  /** The user, the model and the folders of this client. */
  async answer(method: string): Promise<Json> {
    this.asked.push(method);
    this.#open++;
    this.mostOpen = Math.max(this.mostOpen, this.#open);
    await new Promise((resolve) => setTimeout(resolve, THINKING_MS));
    this.#open--;
    if (method === "elicitation/create") return { action: "accept", content: { name: "Ada" } };
    if (method === "roots/list") return { roots: [{ uri: "file:///eras", name: "eras" }] };
    const content = { type: "text", text: "an answer of the model" };
    return { role: "assistant", model: "none", content };
  }

  /** Resolves with the first message that fits, heard at or after `from`. */
  async waitFor(method: string, fits: (params: Json) => boolean, from = 0): Promise<Message> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const message = this.heard.slice(from).find((one) => one.method === method && fits(one.params ?? {}));
      if (message) return message;
      if (performance.now() > deadline) throw new Error(`${method} did not come`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
