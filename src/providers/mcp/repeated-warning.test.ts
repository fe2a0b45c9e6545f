import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { RepeatedWarning } from "./repeated-warning.ts";

test("a warning that comes again and again is told once, and each minute how often it came", () => {
  const log = new KeptLog();
  const time = new ManualTime();
  const warning = new RepeatedWarning(log, time, "it happened");
  const told = () => log.lines.map(({ message, fields }) => ({ message, ...fields }));
  for (let times = 0; times < 1000; times++) warning.note({ cause: "flood" });
  expect(told()).toEqual([{ message: "it happened", cause: "flood" }]);
  time.advance(60_000);
  warning.note({ cause: "flood" });
  expect(told().at(-1)).toEqual({ message: "it happened", cause: "flood", untold: 999 });
  warning.note({ cause: "flood" });
  warning.end();
  warning.end();
  expect(told().at(-1)).toEqual({ message: "it happened", untold: 1 });
  expect(told()).toHaveLength(3);
});
