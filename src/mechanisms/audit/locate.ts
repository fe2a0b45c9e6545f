import type { AuditBlock } from "../../contract/index.ts";
import { markOf } from "./block.ts";
import { isShared } from "./short-lines.ts";

export type AlteredEvent = {
  readonly event: number;
  readonly what: "altered" | "missing" | "inserted" | "moved";
  readonly text: string;
};

const MARK = 8;

/** Which events of a block whose hash is wrong are not those it was made of. None: something else of the block was altered. */
export function alteredEvents({ marks, lines, count }: AuditBlock): readonly AlteredEvent[] {
  const was = Array.from({ length: Math.floor(marks.length / MARK) }, (_, at) =>
    marks.slice(at * MARK, at * MARK + MARK),
  );
  const written = lines.split("\n");
  const is = written.map(markOf);
  if (was.length < count) return [];
  if (was.length === is.length) return compareInPlace(was, is, written);
  const first = was.findIndex((mark, at) => mark !== is[at]);
  const at = eventAt(first === -1 ? was.length : first, written);
  const difference = is.length - was.length;
  return difference < 0
    ? [{ event: at, what: "missing", text: `lacks ${-difference} of its events, from event ${at} on` }]
    : [{ event: at, what: "inserted", text: `has ${difference} more events than it was made of, from event ${at} on` }];
}

/** What events have in common stands before the first of them. */
function eventAt(line: number, written: readonly string[]): number {
  return written.slice(0, line).filter((one) => !isShared(one)).length;
}

function compareInPlace(
  was: readonly string[],
  is: readonly string[],
  written: readonly string[],
): readonly AlteredEvent[] {
  const differing = was.flatMap((mark, line) => (mark === is[line] ? [] : [line]));
  return differing.map((line) => {
    const event = eventAt(line, written);
    if (isShared(written[line] ?? ""))
      return {
        event,
        what: "altered",
        text: `was altered: event ${event}, and those like it, are not what was recorded`,
      };
    const isMoved = was.includes(is[line] as string);
    return isMoved
      ? { event, what: "moved", text: `has another of its events in the place of event ${event}` }
      : { event, what: "altered", text: `was altered: event ${event} is not what was recorded` };
  });
}
