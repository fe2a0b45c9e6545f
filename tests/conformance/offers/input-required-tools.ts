/** Tools of the suite for 2026-07-28 that need input from the client. */
import type { Json } from "../sdk.ts";
import type { Call, Question } from "./call.ts";
import { elicitConsent, elicitText, roots, sampledText, sampling } from "./questions.ts";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

const PREFIX = "test_input_required_result_";

function asks(name: string, description: string, run: (call: Call) => Promise<string>): Tool {
  return { name, description, inputSchema: NO_ARGUMENTS, run: async (call) => text(await run(call)) };
}

function content(answer: Json | undefined, name: string): string {
  return String((answer?.content as Json | undefined)?.[name] ?? "unknown");
}

export const inputRequiredTools: readonly Tool[] = [
  asks(`${PREFIX}elicitation`, "Asks the user for a name", async ({ ask }) => {
    const { user_name } = await ask({ user_name: elicitText("What is your name?", "name") });
    return `Hello, ${content(user_name, "name")}!`;
  }),
  asks(`${PREFIX}sampling`, "Asks the client's model", async ({ ask }) => {
    const { capital_question } = await ask({ capital_question: sampling("What is the capital of France?") });
    return sampledText(capital_question);
  }),
  asks(`${PREFIX}list_roots`, "Asks for the client's roots", async ({ ask }) => {
    const { client_roots } = await ask({ client_roots: roots });
    return `Roots: ${JSON.stringify(client_roots?.roots)}`;
  }),
  asks(`${PREFIX}request_state`, "Asks, and hands out a state", async ({ ask }) => {
    await ask({ confirm: elicitConsent("Please confirm") }, { withState: true });
    return "state-ok";
  }),
  asks(`${PREFIX}multiple_inputs`, "Asks the user, the model and for roots at once", async ({ ask }) => {
    const questions = {
      user_name: elicitText("What is your name?", "name"),
      greeting: sampling("Generate a greeting"),
      client_roots: roots,
    };
    const { user_name, greeting } = await ask(questions, { withState: true });
    return `${sampledText(greeting)} ${content(user_name, "name")}`;
  }),
  asks(`${PREFIX}multi_round`, "Asks the user twice", async ({ ask }) => {
    const { step1 } = await ask({ step1: elicitText("Step 1: What is your name?", "name") }, { withState: true });
    const { step2 } = await ask(
      { step2: elicitText("Step 2: What is your favorite color?", "color") },
      { withState: true },
    );
    return `${content(step1, "name")} likes ${content(step2, "color")}`;
  }),
  asks(`${PREFIX}tampered_state`, "Asks, and hands out a state that cannot be changed", async ({ ask }) => {
    await ask({ confirm: elicitConsent("Please confirm") }, { withState: true });
    return "integrity-ok";
  }),
  asks(`${PREFIX}capabilities`, "Asks only what the client can answer", async ({ ask, capabilities }) => {
    const possible: Record<string, Question> = {
      elicitation: elicitText("Elicitation input", "value"),
      sampling: sampling("Sample request"),
    };
    const declared = Object.entries(possible).filter(([capability]) => capabilities[capability] !== undefined);
    if (declared.length === 0) return "No supported capabilities declared";
    const answers = await ask(Object.fromEntries(declared), { withState: true });
    return `capabilities-ok: ${Object.keys(answers).join(", ")}`;
  }),
  asks("test_missing_capability", "Asks the client's model whether or not it has one", async ({ ask }) => {
    return sampledText((await ask({ sample: sampling("Say hello") })).sample);
  }),
  asks("test_streaming_elicitation", "Reports progress when asked to, then asks the user", async (call) => {
    if (call.progressToken !== undefined) {
      await call.notify("notifications/progress", { progressToken: call.progressToken, progress: 50, total: 100 });
    }
    const { user_name } = await call.ask({ user_name: elicitText("What is your name?", "name") });
    return `Hello, ${content(user_name, "name")}!`;
  }),
];
