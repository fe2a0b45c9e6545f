import { describe, expect, test } from "vitest";
import { Secret } from "../../server/config/secret.ts";
import { terminalFormat } from "./terminal-lines.ts";

const TIME = "2026-01-02T03:04:05.678Z";

describe("terminalFormat", () => {
  const format = terminalFormat(() => false);

  test("tells a finished call in one short line, and how to learn more when it failed", () => {
    const call = { callId: "c-1", target: "files/read", principal: "local", front: "mcp", durationMs: 1.5 };
    expect(format(TIME, "info", "call finished", { ...call, code: "ok" })).toBe("03:04:05  files/read: ok, 1.5 ms\n");
    expect(format(TIME, "info", "call finished", { ...call, code: "NOT_READY" })).toBe(
      '03:04:05  files/read: NOT_READY, 1.5 ms; "isthmus trace c-1" shows more\n',
    );
  });

  test("says where the yes is given that a call waits for, with the link only where it is known", () => {
    const fields = { callId: "c-1", target: "plant/open", approval: "21cf8a40-1111-4222-8333-444444444444" };
    const message = "call waits for a yes";
    const page = new Secret("http://127.0.0.1:7411/approvals/x");
    expect(format(TIME, "info", message, { ...fields, page })).toBe(
      '03:04:05  plant/open waits for a yes: open http://127.0.0.1:7411/approvals/x or run "isthmus approve 21cf"\n',
    );
    expect(format(TIME, "info", message, { ...fields, page: String(page) })).toBe(
      '03:04:05  plant/open waits for a yes: run "isthmus approve 21cf"\n',
    );
    expect(format(TIME, "info", message, { ...fields, url: "http://127.0.0.1:1" })).toBe(
      '03:04:05  plant/open waits for a yes: run "isthmus approve 21cf --url http://127.0.0.1:1"\n',
    );
    expect(format(TIME, "info", message, { ...fields, page, missing: "write it" })).toBe(
      "03:04:05  plant/open waits for a yes: nobody here can say yes: write it\n",
    );
    const call = { callId: "c-1", target: "plant/open", durationMs: 1.5, code: "CONFIRMATION_REQUIRED" };
    expect(format(TIME, "info", "call finished", call)).toBe(
      "03:04:05  plant/open: not called yet, it waits for a yes\n",
    );
  });

  test("says what a server has become, without letting it steer the terminal", () => {
    const fields = { provider: "crm", status: "unreachable", reason: "gone\u001b[2J" };
    expect(format(TIME, "warn", "provider state", fields)).toBe("03:04:05  crm: unreachable, gone [2J\n");
    expect(format(TIME, "info", "provider state", { provider: "crm", status: "ok", reason: undefined })).toBe(
      "03:04:05  crm: ok\n",
    );
  });

  test("gives every problem of a refused config a line of its own", () => {
    const text = format(TIME, "error", "config refused, the old one stays", {
      problems: ["a.toml:1: x", "a.toml:2: y"],
    });
    expect(text).toBe(
      "03:04:05  the config was refused, the old one stays:\n            a.toml:1: x\n            a.toml:2: y\n",
    );
  });

  test("says that a config is in order again that was refused, where no table shows what is new", () => {
    const taken = (fields: object) =>
      format(TIME, "info", "config taken over", { added: [], changed: [], removed: [], settings: [], ...fields });
    expect(taken({ wasRefused: true })).toBe(
      "03:04:05  the config is in order again, and as it was taken over before\n",
    );
    expect(taken({ wasRefused: true, changed: ["a"] })).toBe("");
    expect(taken({})).toBe("");
  });

  test("says which token was revoked, and of other blocks what they are about", () => {
    const block = { block: "b-1", subject: "client", server: "" };
    expect(format(TIME, "info", "revoked", { ...block, reason: "token d631 of ada was revoked" })).toBe(
      "03:04:05  token d631 of ada was revoked\n",
    );
    expect(format(TIME, "info", "revoked", { ...block, subject: "user", server: "crm", reason: "left" })).toBe(
      "03:04:05  revoked: user at crm, left\n",
    );
  });

  test("says of a name that nothing has what is written, and what is meant", () => {
    const fields = { written: "a_b_2", server: "places", meant: ["a_b"] };
    expect(
      format(TIME, "warn", "a rule, grant, limit or catalog names what only lists call so: it does nothing", fields),
    ).toBe(
      "03:04:05  warning: a rule, grant, limit or catalog is about a_b_2 of places, which only lists call so: it does nothing; write a_b instead\n",
    );
    const gone = { written: "hello.ad", meant: [] };
    expect(
      format(TIME, "warn", "a rule, grant, limit or catalog names what is not there now: it does nothing", gone),
    ).toBe(
      "03:04:05  warning: a rule, grant, limit or catalog is about hello.ad, which is not there now: it does nothing until it is\n",
    );
  });

  test("is silent about each further attempt to start a server", () => {
    expect(format(TIME, "warn", "upstream session failed", { provider: "crm" })).toBe("");
  });

  test("tells everything else as a sentence: what, about what and why, without ids and names of fields", () => {
    const fields = { provider: "crm", session: "0f3c", reason: "it is too long" };
    expect(format(TIME, "warn", "list cut short", fields)).toBe(
      "03:04:05  warning: list cut short (crm): it is too long\n",
    );
    const cause = new Error("disk full\u001b[2J");
    expect(format(TIME, "error", "audit events are lost", { cause })).toBe(
      "03:04:05  ERROR: audit events are lost: disk full [2J\n",
    );
    expect(format(TIME, "error", "audit events are lost", { cause: { name: "Error", message: "disk full" } })).toBe(
      "03:04:05  ERROR: audit events are lost: disk full\n",
    );
    expect(format(TIME, "info", "audit events of former processes are kept", { count: 3 })).toBe(
      "03:04:05  audit events of former processes are kept (3)\n",
    );
  });

  test("has other words for what only the code has names for, and keeps how bad it is and why", () => {
    const cause = new Error("connection refused");
    expect(format(TIME, "warn", "provider did not open", { provider: "crm", code: "UNREACHABLE", cause })).toBe(
      "03:04:05  warning: crm could not be started or reached: connection refused\n",
    );
    expect(format(TIME, "warn", "membership lost", { member: "71ae67cd", reason: "late" })).toBe(
      "03:04:05  warning: this process did not reach Redis in time;\n            until it is one of them again, which it tries by itself, they do without it\n",
    );
    expect(format(TIME, "warn", "home not given up", { key: "crm", cause })).toBe(
      "03:04:05  warning: the others were not told that crm runs here no more, and find out by themselves: connection refused\n",
    );
    expect(format(TIME, "info", "blobs swept", { count: 3 })).toBe(
      "03:04:05  3 files that nothing refers to were cleared away\n",
    );
    const fix = "chmod 600 a.key";
    expect(
      format(TIME, "warn", "others can get at a file", { file: "a.key", found: "can be read by others", fix }),
    ).toBe("03:04:05  warning: a.key can be read by others; run: chmod 600 a.key\n");
  });

  test("says that it is one of several processes, and nothing where it is alone", () => {
    const member = "71ae67cd-805b-4226-bb13-5125ec8ae9ec";
    expect(format(TIME, "info", "joined", { member, address: "" })).toBe("");
    expect(format(TIME, "info", "joined", { member, address: "10.0.0.7:7412" })).toBe(
      "03:04:05  one of several processes now, reached by the others at 10.0.0.7:7412\n",
    );
  });

  test("leaves to the screen what it shows at the moment", () => {
    const starting = terminalFormat((message) => message === "provider state");
    expect(starting(TIME, "warn", "provider state", { provider: "crm", status: "unreachable" })).toBe("");
    expect(starting(TIME, "error", "config refused, the old one stays", { problems: ["x"] })).not.toBe("");
  });
});
