import { expect, test } from "vitest";
import { ok, problem, warning } from "./finding.ts";
import { besideRunning } from "./running-servers.ts";

const what = "servers.crm";
const running = new Map([["crm", { status: "ok", message: "" }]]);
const server = { id: "crm" };

test("a server that waits for a sign-in here is well where the running gateway may use it", () => {
  const waits = warning(what, "it waits for a sign-in", "call the tool crm.sign_in");
  expect(besideRunning(waits, { server, running, isWaiting: true })).toEqual(
    ok(what, "the running gateway may use it"),
  );
  const waiting = new Map([["crm", { status: "auth_required", message: "It must be allowed first" }]]);
  expect(besideRunning(waits, { server, running: waiting, isWaiting: true })).toEqual(waits);
});

test("a server that does not start here is none the less reached by the running gateway, and that is said", () => {
  const dead = problem(what, "exited with code 1", "run its command by hand");
  expect(besideRunning(dead, { server, running, isWaiting: false })).toMatchObject({
    level: "warning",
    found: expect.stringContaining("the running gateway reaches it"),
  });
});
