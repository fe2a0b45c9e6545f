export { legacyToolResult, RESULT_MEMBERS, stripResult, stripServerInfo } from "./legacy-result.ts";
export {
  isWrapped,
  /** @public for the lists of the 2025 fronts */
  projectTool,
} from "./output-schema.ts";
