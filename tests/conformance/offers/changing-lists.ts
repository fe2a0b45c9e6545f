/** Lists that change when told to: each trigger adds one entry or takes it away again. */
import type { Call } from "./call.ts";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

const isAdded = { tools: false, prompts: false };

function triggers(name: string, list: "tools" | "prompts"): Tool {
  return {
    name,
    description: `Changes the list of ${list}`,
    inputSchema: NO_ARGUMENTS,
    async run(call: Call) {
      isAdded[list] = !isAdded[list];
      await call.announce(list);
      return text(`The list of ${list} has changed`);
    },
  };
}

const comingAndGoing: Tool = {
  name: "test_coming_and_going",
  description: "Listed only sometimes",
  inputSchema: NO_ARGUMENTS,
  run: async () => text("Still here"),
};

/** The tools of the moment. */
export function changingTools(): Tool[] {
  const permanent = [triggers("test_trigger_tool_change", "tools"), triggers("test_trigger_prompt_change", "prompts")];
  return isAdded.tools ? [...permanent, comingAndGoing] : permanent;
}

export function hasAddedPrompt(): boolean {
  return isAdded.prompts;
}
