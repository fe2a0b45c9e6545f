import { describe, expect, test } from "vitest";
import type { ServerSummary } from "../../server/gateway-types.ts";
import { StartProgress } from "./start-progress.ts";

const starting = (id: string): ServerSummary => ({ id, status: "starting", tools: 0 });
const ok = (id: string): ServerSummary => ({ id, status: "ok", tools: 2 });
const gone: ServerSummary = { id: "gone", status: "unreachable", tools: 0, message: "refused\u001b[2J" };

function rig(terminal?: { columns: number; rows: number }) {
  const written: string[] = [];
  const progress = new StartProgress({ write: (text) => written.push(text), terminal, now: () => 3_200 });
  return { progress, written };
}

describe("StartProgress without a terminal", () => {
  test("writes a line when a server has started or failed, once", () => {
    const { progress, written } = rig();
    progress.update([starting("files"), starting("gone")]);
    progress.update([ok("files"), starting("gone")]);
    progress.update([ok("files"), gone]);
    progress.update([ok("files"), gone]);
    progress.end();
    expect(written).toEqual(["files: ok, 2 tools\n", "gone: unreachable, refused [2J\n"]);
  });
});

describe("StartProgress on a terminal", () => {
  test("redraws its lines in place and takes them away at the end", () => {
    const { progress, written } = rig({ columns: 80, rows: 24 });
    progress.update([starting("files"), starting("b")]);
    progress.update([ok("files"), starting("b")]);
    progress.end();
    expect(written).toEqual([
      "  files  starting … 3 s\n  b      starting … 3 s\n",
      "\u001b[2A\r\u001b[J",
      "  files  ok, 2 tools\n  b      starting … 3 s\n",
      "\u001b[2A\r\u001b[J",
    ]);
  });

  test("puts what others write above its lines", () => {
    const { progress, written } = rig({ columns: 80, rows: 24 });
    progress.update([ok("a")]);
    progress.write("a log line\n");
    expect(written.slice(1)).toEqual(["\u001b[1A\r\u001b[J", "a log line\n", "  a  ok, 2 tools\n"]);
  });

  test("is one line when there are more servers than rows, and never wider than the terminal", () => {
    const { progress, written } = rig({ columns: 40, rows: 10 });
    progress.update([ok("first"), ...Array.from({ length: 20 }, (_, index) => starting(`server-${index}`))]);
    expect(written[0]).toMatch(/^ {2}1 of 21 servers, waiting for server-…\n$/);
    expect(written[0]?.trimEnd().length).toBeLessThan(40);
  });
});
