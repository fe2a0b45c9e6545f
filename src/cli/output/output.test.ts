import { describe, expect, test } from "vitest";
import { CallNotices } from "../client/call-notices.ts";
import { cut, plainLine, plainText } from "./plain.ts";
import { resultText } from "./result-text.ts";
import { tableLines } from "./table.ts";
import { wrap } from "./wrap.ts";

describe("plain text", () => {
  test("cannot steer the terminal", () => {
    expect(plainLine(" a\u001b[2J\r\n\tb\u200bc ")).toBe("a [2J b c");
    expect(plainText("a\u001b]0;x\u0007\n\tb")).toBe("a ]0;x \n\tb");
  });

  test("is cut by characters, not by halves of them", () => {
    expect(cut("ab😀cd", 4)).toBe("ab😀…");
    expect(cut("ab", 2)).toBe("ab");
  });

  test("is wrapped at spaces", () => {
    expect(wrap("aa bb cc", 6)).toEqual(["aa bb", "cc"]);
    expect(wrap("aaaaaaaa b", 4)).toEqual(["aaaaaaaa", "b"]);
  });
});

describe("tableLines", () => {
  test("aligns columns and cuts the last one at the width", () => {
    const rows = [
      ["NAME", "ABOUT"],
      ["a", "short"],
      ["longer", "x".repeat(100)],
    ];
    expect(tableLines(rows, { width: 30 })).toEqual(["NAME    ABOUT", "a       short", `longer  ${"x".repeat(21)}…`]);
  });

  test("lets one long name push its own row aside, and no other", () => {
    const rows = [
      ["n".repeat(50), "long"],
      ["b", "short"],
    ];
    expect(tableLines(rows, { width: 80, maxColumn: 10 })[1]).toBe("b           short");
    expect(tableLines([], { width: 80 })).toEqual([]);
  });
});

describe("resultText", () => {
  test("shows text, and a line for what cannot be shown", () => {
    const content = [
      { type: "text", text: "one\n" },
      { type: "text", text: "two" },
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "resource_link", uri: "file:///a" },
      { type: "resource", resource: { uri: "file:///b", text: "inside" } },
      { type: "new", x: 1 },
    ];
    expect(resultText({ content })).toBe(
      'one\ntwo\n[image, image/png, 3 bytes; --json shows it]\n[resource file:///a]\ninside\n{"type":"new","x":1}\n',
    );
  });

  test("shows structure where there is nothing else, and text as it is", () => {
    expect(resultText({ content: [], structuredContent: { a: 1 } })).toBe('{\n  "a": 1\n}\n');
    expect(resultText({ content: [{ type: "text", text: "\u001b[2J" }] })).toBe("\u001b[2J\n");
  });
});

describe("CallNotices", () => {
  function rig(isTTY: boolean) {
    const written: string[] = [];
    const notices = new CallNotices({ isTTY, columns: 20, write: (text: string) => written.push(text) > 0 });
    return { notices, written };
  }
  const progress = { progress: 1, total: 3, message: "a\u001b[2J step that is long" };

  test("writes a line for each step and each log message", () => {
    const { notices, written } = rig(false);
    notices.hear("notifications/progress", progress);
    notices.hear("notifications/progress", { progress: 2 });
    notices.hear("notifications/message", { level: "warning", data: { a: 1 } });
    notices.hear("notifications/other", {});
    notices.end();
    expect(written).toEqual(["1/3 a [2J step that is long\n", "2\n", 'warning: {"a":1}\n']);
  });

  test("changes one line in place on a terminal, within its width", () => {
    const { notices, written } = rig(true);
    notices.hear("notifications/progress", progress);
    notices.end();
    expect(written).toEqual(["\r\u001b[K1/3 a [2J step tha…", "\r\u001b[K"]);
  });
});
