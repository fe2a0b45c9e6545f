export { legacyToolResult, RESULT_MEMBERS, stripResult, stripServerInfo } from "./legacy-result.ts";
export { KNOWS_ALL_CONTENT, olderContent } from "./older-content.ts";
export { olderQuestion } from "./older-questions.ts";
export { isWrapped, projectTool } from "./output-schema.ts";
