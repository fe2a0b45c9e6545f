/** What both servers of the soak ask, and what must come of it. Every call has a tag, and everything it leads to names it. */

export type Json = Record<string, unknown>;

/** A server whose one tool asks before it answers. */
export interface AskingServer {
  readonly url: string;
  /** What it holds for its clients now, by name. */
  counts(): Record<string, number>;
  /** Lets go of connections that nobody uses. */
  closeIdle(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Long enough that a client may vanish while the server works. */
export const WORK_MS = 2;

export const TOOLS = [{ name: "ask", description: "Asks, then tells.", inputSchema: { type: "object" } }];

export function questionFor(tag: unknown): Json {
  const requestedSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
  return { mode: "form", message: `The word for ${tag}?`, requestedSchema };
}

/** The client's answer, made from the question it was asked: a question of somebody else's call would show. */
export function answerTo(question: Json | undefined): Json {
  return { action: "accept", content: { word: `heard: ${question?.message}` } };
}

export function resultFor(tag: unknown, answer: Json | undefined): Json {
  return { content: [{ type: "text", text: JSON.stringify([tag, answer]) }] };
}

/** What the text of the result is when everything went where it belongs. */
export function expectedText(tag: string): string {
  return JSON.stringify([tag, answerTo(questionFor(tag))]);
}

export function textOf(result: Json | undefined): unknown {
  const content: unknown = result?.content;
  return Array.isArray(content) ? content[0]?.text : JSON.stringify(result);
}
