import type { Json } from "../sdk.ts";
import type { Question } from "./call.ts";

export function elicitation(message: string, properties: Json, required: readonly string[] = []): Question {
  const requestedSchema = { type: "object", properties, required };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

/** Asks for one required text. */
export function elicitText(message: string, name: string): Question {
  return elicitation(message, { [name]: { type: "string" } }, [name]);
}

/** Asks for one required yes or no. */
export function elicitConsent(message: string): Question {
  return elicitation(message, { ok: { type: "boolean" } }, ["ok"]);
}

export function sampling(prompt: string): Question {
  const messages = [{ role: "user", content: { type: "text", text: prompt } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
}

export const roots: Question = { method: "roots/list", params: {} };

/** What a model has answered. */
export function sampledText(answer: Json | undefined): string {
  return String((answer?.content as Json | undefined)?.text ?? "(no text)");
}
