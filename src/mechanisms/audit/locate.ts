import type { AuditBlock } from "../../contract/index.ts";
import { markOf } from "./block.ts";

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
  const is = lines.split("\n").map(markOf);
  if (was.length !== count) return [];
  if (was.length === is.length) return compareInPlace(was, is);
  const event = was.findIndex((mark, at) => mark !== is[at]);
  const at = event === -1 ? was.length : event;
  const difference = is.length - was.length;
  return difference < 0
    ? [{ event: at, what: "missing", text: `lacks ${-difference} of its events, from event ${at} on` }]
    : [{ event: at, what: "inserted", text: `has ${difference} more events than it was made of, from event ${at} on` }];
}

function compareInPlace(was: readonly string[], is: readonly string[]): readonly AlteredEvent[] {
  const differing = was.flatMap((mark, event) => (mark === is[event] ? [] : [event]));
  return differing.map((event) => {
    const isMoved = was.includes(is[event] as string);
    return isMoved
      ? { event, what: "moved", text: `has another of its events in the place of event ${event}` }
      : { event, what: "altered", text: `was altered: event ${event} is not what was recorded` };
  });
}
