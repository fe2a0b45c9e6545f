import type { Operation } from "../../../contract/index.ts";
import type { AddedByOperators } from "../added-by-operators.ts";
import { type AboutParts, aboutOperations } from "./about-operations.ts";
import { type CallOperationParts, callOperations } from "./call-operations.ts";
import { catalogOperations } from "./catalog-operations.ts";
import { logOperations } from "./log-operations.ts";
import { serverOperations } from "./server-operations.ts";
import { sessionOperations } from "./session-operations.ts";

export type OwnOperationParts = AboutParts & CallOperationParts & { readonly added: AddedByOperators };

/** What operators look at and do to the gateway itself, beside what each mechanism brings. */
export function ownOperations(parts: OwnOperationParts): readonly Operation[] {
  return [
    ...aboutOperations(parts),
    ...sessionOperations(parts),
    ...callOperations(parts),
    ...serverOperations(parts),
    ...catalogOperations(parts),
    ...logOperations(parts.live.lines),
  ];
}
