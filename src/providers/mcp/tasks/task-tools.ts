/** What the tools of a server have to do with tasks, and how clients of the 2025 era see them in lists. */
import {
  type Call,
  decodeString,
  JsonFault,
  mapSteps,
  type Offer,
  type Payload,
  type Primitive,
  type Steps,
} from "../../../contract/index.ts";
import { projectTool } from "../../../wire/mcp/bridge/index.ts";
import { spokenBy } from "../home-facts.ts";
import { declaresTasks } from "../modern/modern-side.ts";
import type { UpstreamSession } from "../upstream-session.ts";

const CALL_TASKS = ["tasks", "requests", "tools", "call"] as const;
/** How clients of the 2025 era learn that a call of the tool may become a task. */
const MAY_BE_TASK = '{"taskSupport":"optional"}';

export class TaskTools {
  readonly #isAuto: boolean;
  #required: ReadonlySet<string> | undefined;

  /** `isAuto`: calls that take long may become tasks of the gateway. */
  constructor(isAuto: boolean) {
    this.#isAuto = isAuto;
  }

  /** The tools have been listed once. */
  get isKnown(): boolean {
    return this.#required !== undefined;
  }

  /** The tool of this call runs only as a task, which a caller of 2026-07-28 does not ask for. */
  requires({ method, target }: Call): boolean {
    return method === "tools/call" && this.#required?.has(target.name) === true;
  }

  /** The caller may be sent away with a task of the gateway's at any moment: from then on only we can go on with the call. */
  mayOutlast({ method, mayDefer }: Call, { modern }: UpstreamSession): boolean {
    return this.#isAuto && mayDefer === true && method === "tools/call" && modern?.hasTasks === false;
  }

  /** The offers with what clients have to know of them. */
  *learn(offers: readonly Offer[], session: UpstreamSession): Steps<readonly Offer[]> {
    const learned: Offer[] = [];
    for (const offer of offers) learned.push(offer.kind === "tool" ? yield* this.#learnTools(offer, session) : offer);
    return learned;
  }

  *#learnTools(offer: Offer, session: UpstreamSession): Steps<Offer> {
    const required = new Set<string>();
    const { isModern, capabilities } = spokenBy(session);
    const hasOwn = !isModern && memberAt(capabilities, CALL_TASKS) !== undefined;
    const isTold = isModern && declaresTasks(capabilities);
    const primitives = yield* mapSteps(offer.primitives, (tool) => {
      const support = hasOwn ? decodeString(memberAt(tool.definition, ["execution", "taskSupport"])) : undefined;
      if (support === "required" && !session.modern) required.add(tool.name);
      const described = describe(tool, this.#outlasts(support, isTold), isModern);
      // Of whatever runs at its home longer than its caller waits, the home makes a task and says so.
      const isElsewhere = session.context.isHome && session.modern && described.outlasts !== undefined;
      return isElsewhere ? { ...described, outlasts: "told" as const } : described;
    });
    this.#required = required;
    return { ...offer, primitives };
  }

  #outlasts(support: string | undefined, isTold: boolean): Primitive["outlasts"] {
    if (support === "optional" || support === "required") return "own";
    if (isTold) return "told";
    return this.#isAuto ? "slow" : undefined;
  }
}

function describe(tool: Primitive, outlasts: Primitive["outlasts"], isModern: boolean): Primitive {
  let older = isModern ? projectTool(tool.definition) : tool.definition;
  if (outlasts === "told" || outlasts === "slow") older = older.splice(["execution"], MAY_BE_TASK);
  const differs = older.text !== tool.definition.text;
  if (outlasts === undefined && !differs) return tool;
  return { ...tool, ...(outlasts !== undefined && { outlasts }), ...(differs && { older }) };
}

/** Undefined also where two readers could read it differently. */
function memberAt(body: Payload | undefined, path: readonly string[]): string | undefined {
  try {
    return body?.at(path);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return undefined;
  }
}
