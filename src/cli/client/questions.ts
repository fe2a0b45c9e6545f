/** Questions of a server in the middle of a call: asked on the terminal, declined where there is none. */
import { ArgumentFault, readArguments } from "../arguments/typed-arguments.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import { plainLine } from "../output/plain.ts";
import { Prompter, type Terminal } from "./prompter.ts";

export const QUESTION_CAPABILITIES: JsonObject = { elicitation: { form: {}, url: {} } };

const DECLINE: JsonObject = { action: "decline" };
const DECLINE_SIGN = "!";

/** Where there is somebody to ask. */
export function ownTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process;
  return input.isTTY && output.isTTY ? { input, output } : undefined;
}

export class TerminalQuestions {
  readonly #terminal: Terminal | undefined;
  /** One question at a time, however many a server has. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(terminal: Terminal | undefined) {
    this.#terminal = terminal;
  }

  /** Undefined: not a question of a kind that is known here. */
  answer(method: string, params: JsonObject): Promise<JsonObject> | undefined {
    if (method !== "elicitation/create") return undefined;
    const terminal = this.#terminal;
    if (!terminal) return Promise.resolve(DECLINE);
    const asked = this.#last.then(() => ask(params, terminal));
    this.#last = asked.catch(() => {});
    return asked;
  }
}

async function ask(params: JsonObject, terminal: Terminal): Promise<JsonObject> {
  const prompter = new Prompter(terminal);
  try {
    prompter.tell(`\n${textOf(params.message) ?? "The server asks:"}`);
    return params.mode === "url" ? await askForVisit(params, prompter) : await askForForm(params, prompter);
  } finally {
    prompter.close();
  }
}

async function askForVisit({ url }: JsonObject, prompter: Prompter): Promise<JsonObject> {
  prompter.tell(`  ${plainLine(textOf(url) ?? "")}`);
  const answer = await prompter.ask("Opened it, go on? [y/N] ");
  return { action: /^y/i.test(answer ?? "") ? "accept" : "decline" };
}

async function askForForm({ requestedSchema }: JsonObject, prompter: Prompter): Promise<JsonObject> {
  const schema = objectOf(requestedSchema);
  const content: Record<string, unknown> = {};
  prompter.tell(`(an empty answer takes the default or skips; ${DECLINE_SIGN} declines)`);
  for (const key of Object.keys(objectOf(schema.properties))) {
    const answer = await askForField(key, schema, prompter);
    if (answer === DECLINE) return DECLINE;
    Object.assign(content, answer);
  }
  return { action: "accept", content };
}

/** Asks until the answer fits. Resolves with the member, with nothing for one that is skipped, or with DECLINE. */
async function askForField(key: string, schema: JsonObject, prompter: Prompter): Promise<JsonObject | undefined> {
  const property = objectOf(objectOf(schema.properties)[key]);
  const isRequired = listOf(schema.required).includes(key);
  for (;;) {
    const answer = (await prompter.ask(fieldPrompt(key, property, isRequired)))?.trim();
    if (answer === undefined || answer === DECLINE_SIGN) return DECLINE;
    if (answer === "" && property.default !== undefined) return { [key]: property.default };
    if (answer === "" && !isRequired) return undefined;
    try {
      return readArguments([`${key}=${answer}`], { properties: { [key]: property } });
    } catch (error) {
      if (!(error instanceof ArgumentFault)) throw error;
      prompter.tell(`  ${plainLine(error.message)}`);
    }
  }
}

/** What is asked for, in one line. */
function fieldPrompt(key: string, property: JsonObject, isRequired: boolean): string {
  const { title, description, type } = property;
  const choices = listOf(property.enum);
  const kind = choices.length > 0 ? choices.join("/") : (textOf(type) ?? "text");
  const fallback = property.default === undefined ? "" : `, default ${JSON.stringify(property.default)}`;
  const about = textOf(description);
  const label = `${textOf(title) ?? key} (${kind}${isRequired ? "" : ", optional"}${fallback})`;
  return `  ${plainLine(about === undefined ? label : `${label}: ${about}`)} > `;
}
