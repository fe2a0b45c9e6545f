export { traceStage } from "./trace-stage.ts";
