import { describe, expect, test } from "vitest";
import { CallNotices } from "./call-notices.ts";

function rig(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const notices = new CallNotices({ ...terminal, write: (text: string) => written.push(text) > 0 });
  const progress = (params: object) => notices.hear("notifications/progress", { progressToken: "p", ...params });
  return { notices, progress, shown: () => written.join("") };
}

const WAITS = `Waits for a yes: open http://127.0.0.1:7411/approvals/${"x".repeat(60)} or run "isthmus approve 21cf", then call again.`;

describe("CallNotices", () => {
  test("shows steps in place on a terminal, and line by line elsewhere", () => {
    const terminal = rig({ isTTY: true, columns: 40 });
    terminal.progress({ progress: 1, total: 3 });
    terminal.progress({ progress: 2, total: 3 });
    terminal.notices.end();
    expect(terminal.shown()).toBe("\r\u001b[K1/3\r\u001b[K2/3\r\u001b[K");
    const pipe = rig();
    pipe.progress({ progress: 1, total: 3, message: "one" });
    pipe.progress({ progress: 2, total: 3, message: "two" });
    expect(pipe.shown()).toBe("1/3 one\n2/3 two\n");
  });

  test.each([{ isTTY: true, columns: 80 }, {}])(
    "tells once, without numbers, what a call waits for (%j)",
    (terminal) => {
      const { progress, shown } = rig(terminal);
      const message = 'Waits for a yes: run "isthmus approve c3cc", then call again.';
      for (let step = 0; step < 3; step++) progress({ progress: step * 1e-6, message });
      expect(shown()).toBe(`${message}\n`);
    },
  );

  test.each([{ isTTY: true, columns: 80 }, {}])(
    "cuts nothing of a text that is longer than the terminal, and tells it once (%j)",
    (terminal) => {
      const { notices, progress, shown } = rig(terminal);
      expect(notices.hasTold("http://127.0.0.1:7411/approvals/")).toBe(false);
      for (let step = 1; step <= 3; step++) progress({ progress: step * 1e-6, message: WAITS });
      expect(shown()).toBe(`${WAITS}\n`);
      expect(notices.hasTold("http://127.0.0.1:7411/approvals/")).toBe(true);
      progress({ progress: 4, message: "done\u001b[2J soon" });
      expect(shown()).toContain("4 done [2J soon");
    },
  );
});
