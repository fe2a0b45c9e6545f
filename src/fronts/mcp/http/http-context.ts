import type { FrontContext } from "../front-context.ts";
import type { Gate } from "./gate.ts";
import type { LateAnswers } from "./late-answers.ts";

export type HttpContext = { readonly front: FrontContext; readonly gate: Gate; readonly lateAnswers: LateAnswers };
