import { payload } from "../../contract/index.ts";

/** What an answer without content is in MCP. */
export const EMPTY_OBJECT = payload("{}");
