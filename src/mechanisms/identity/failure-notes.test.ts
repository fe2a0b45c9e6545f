import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import type { HttpRequest } from "../../contract/index.ts";
import { FailureNotes } from "./failure-notes.ts";
import { refuse } from "./refusal.ts";

const from = (clientAddress: string) => ({ method: "POST", url: "/mcp?token=hunter2", clientAddress }) as HttpRequest;

test("the log says what was wrong with credentials, once a minute for each reason and address", () => {
  const time = new ManualTime();
  const log = new KeptLog();
  const notes = new FailureNotes({ note: () => undefined, commit: async () => true }, time, log);
  for (let at = 0; at < 100; at++) notes.note(from("10.0.0.7"), refuse("expired"));
  notes.note(from("10.0.0.7"), refuse("signature"));
  notes.note(from("10.0.0.8"), refuse("expired"));
  time.advance(60_000);
  notes.note(from("10.0.0.7"), refuse("expired"));
  const line = (fields: object) => ({
    level: "info",
    message: "credentials refused",
    fields: { path: "/mcp", ...fields },
  });
  expect(log.lines).toEqual([
    line({ reason: "expired", address: "10.0.0.7" }),
    line({ reason: "signature", address: "10.0.0.7" }),
    line({ reason: "expired", address: "10.0.0.8" }),
    line({ reason: "expired", address: "10.0.0.7", untold: 99 }),
  ]);
});
