import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { descendants, waitForEnd } from "../kit/processes.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { echoServer, Rig } from "./rig.ts";
import { counter, until } from "./watching.ts";

describe("a config that changes while the gateway runs", () => {
  test("brings servers and takes them away, and leaves the others and the clients alone", async () => {
    await using rig = await Rig.start(echoServer("kept") + echoServer("gone"));
    const kept = await rig.who("kept");
    const gone = await rig.who("gone");
    rig.replace("isthmus.toml", echoServer("kept") + echoServer("fresh"));
    await rig.untilTool("fresh.who");
    expect(await rig.tools()).not.toContain("gone.who");
    expect((await rig.who("kept")).pid).toBe(kept.pid);
    expect((await rig.who("fresh")).pid).not.toBe(kept.pid);
    expect(await waitForEnd([gone.pid])).toEqual([]);
    const answer = await rig.ask(toolCall(3, "gone.who", {}));
    expect(answer?.error?.message).toContain("gone.who");
  });

  test("tells clients that their lists have changed", async () => {
    await using rig = await Rig.start(echoServer("kept"));
    await rig.tools();
    await using stream = await rig.listen();
    const told = () => stream.heard.split("notifications/tools/list_changed").length - 1;
    rig.replace("isthmus.toml", echoServer("kept") + echoServer("fresh"));
    await until(() => told() > 0 || undefined, "the news of a new server");
    expect(await rig.tools()).toContain("fresh.who");
    const before = told();
    rig.replace("isthmus.toml", echoServer("kept"));
    await until(() => told() > before || undefined, "the news of a server that is gone");
  });

  test("keeps the subscriptions of clients to a server that is replaced", async () => {
    await using rig = await Rig.start(echoServer("p"));
    await using stream = await rig.listen();
    await rig.ask({ id: 1, method: "resources/subscribe", params: { uri: "echo://self" } });
    rig.replace("isthmus.toml", echoServer("p", ["more"]));
    await rig.untilTool("p.more");
    const updated = "notifications/resources/updated";
    await until(async () => {
      await rig.who("p", "touch");
      return stream.heard.includes(updated) || undefined;
    }, updated);
  });

  test("lets a call end on the server that it began on, and sends new ones to its successor", async () => {
    await using rig = await Rig.start(echoServer("p"));
    const former = await rig.who("p");
    const running = rig.who("p", "wait", { ms: 2_000 });
    await until(async () => (await counter(rig.gateway.origin, "isthmus_runs_open")) === 1 || undefined, "the call");
    rig.replace("isthmus.toml", echoServer("p", ["more"]));
    await rig.untilTool("p.more");
    const answer = await post(rig.gateway.url, toolCall(9, "p.who", {}), rig.session);
    expect(JSON.stringify(answer.messages)).toContain("more");
    expect((await running).pid).toBe(former.pid);
    expect(await waitForEnd([former.pid])).toEqual([]);
  });

  test("cuts off a call that takes longer than `drain`", async () => {
    const drain = '[gateway]\ndrain = "100ms"\n';
    await using rig = await Rig.start(drain + echoServer("kept") + echoServer("gone"));
    const { pid } = await rig.who("gone");
    const running = rig.ask(toolCall(5, "gone.wait", { ms: 60_000 }));
    await until(async () => (await counter(rig.gateway.origin, "isthmus_runs_open")) === 1 || undefined, "the call");
    rig.replace("isthmus.toml", drain + echoServer("kept"));
    expect(await waitForEnd([pid], 10_000)).toEqual([]);
    expect(JSON.stringify(await running)).toContain("OUTCOME_UNKNOWN");
    expect((await rig.who("kept")).args).toEqual([]);
  });

  test("changes nothing when it is wrong: one line in the log, two figures, and the next good one counts", async () => {
    await using rig = await Rig.start(echoServer("kept"));
    const { pid } = await rig.who("kept");
    rig.replace("isthmus.toml", `${echoServer("kept")}comand = "x"\n[gateway]\ndrain = 5\n`);
    await rig.untilReloads("refused", 1);
    const lines = rig.gateway.program.stderr.split("\n").filter((line) => line.includes("config refused"));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: "error",
        problems: [
          'isthmus.toml:6: servers.kept.comand: unknown key, did you mean "command"?',
          expect.stringMatching(/^isthmus.toml:8: gateway.drain: expected a duration/),
        ],
      },
    ]);
    expect(await counter(rig.gateway.origin, "isthmus_config_stale")).toBe(1);
    expect((await fetch(`${rig.gateway.origin}/readyz`)).status).toBe(200);
    expect((await rig.who("kept")).pid).toBe(pid);
    rig.replace("isthmus.toml", echoServer("kept") + echoServer("fresh"));
    await rig.untilTool("fresh.who");
    expect(await counter(rig.gateway.origin, "isthmus_config_stale")).toBe(0);
    expect((await rig.who("kept")).pid).toBe(pid);
  });

  test("is refused when it needs a restart, with file and line", async () => {
    await using rig = await Rig.start(echoServer("kept"));
    rig.replace("isthmus.toml", `[gateway]\nsse = true\n${echoServer("kept")}`);
    await rig.untilReloads("refused", 1);
    expect(rig.gateway.program.stderr).toContain(
      "isthmus.toml:2: gateway.sse: cannot change while the gateway runs; restart to change it",
    );
  });

  test("changes what the fronts read with each request", async () => {
    await using rig = await Rig.start(echoServer("p"));
    const fromBox = async () => {
      const headers = { origin: "https://app.example.org" };
      return (await post(rig.gateway.url, { id: 1, method: "tools/list" }, { ...rig.session, ...headers })).status;
    };
    expect(await fromBox()).toBe(403);
    const gateway = '[gateway]\npageSize = 1\nallowedOrigins = ["https://app.example.org"]\ntimeout = "200ms"\n';
    const { pid } = await rig.who("p");
    rig.replace("isthmus.toml", gateway + echoServer("p"));
    await until(async () => ((await rig.tools()).length === 1 ? true : undefined), "the page size");
    expect(await fromBox()).toBe(200);
    expect(JSON.stringify(await rig.ask(toolCall(4, "p.wait", { ms: 30_000 })))).toContain("DEADLINE_PASSED");
    expect((await rig.who("p")).pid).toBe(pid);
    rig.replace("isthmus.toml", echoServer("p"));
    await until(async () => ((await rig.tools()).length === 3 ? true : undefined), "no page size");
    expect(await fromBox()).toBe(403);
  });

  test("changes which proxies are believed, also on connections that are open [AP-090]", async () => {
    await using rig = await Rig.start(echoServer("p"));
    const { program, url } = rig.gateway;
    const addresses = () =>
      [...program.stderr.matchAll(/"call finished".*?(?:"address":"([^"]*)")?\}\n/g)].map(([, at]) => at);
    const from = { ...rig.session, "x-forwarded-for": "192.0.2.1" };
    const lists = ["", 'trustedProxies = ["127.0.0.1"]', 'trustedProxies = ["10.0.0.0/8"]'];
    for (const [index, list] of lists.entries()) {
      if (index > 0) rig.replace("isthmus.toml", `[gateway]\n${list}\n${echoServer("p")}`);
      await rig.untilReloads("ok", index);
      await post(url, toolCall(1, "p.who", {}), from);
    }
    await until(() => addresses().length === lists.length || undefined, "the lines of three calls");
    expect(addresses()).toEqual([undefined, "192.0.2.1", "127.0.0.1"]);
  });

  test("takes the last of many quick edits, in place or not", async () => {
    await using rig = await Rig.start(echoServer("p"));
    for (let edit = 0; edit < 20; edit++) {
      if (edit % 2) rig.replace("isthmus.toml", echoServer("p", [`edit_${edit}`]));
      else rig.writeInPlace("isthmus.toml", echoServer("p", [`edit_${edit}`]));
    }
    await rig.untilTool("p.edit_19");
    expect((await rig.who("p")).args).toEqual(["edit_19"]);
  });

  test("is followed through a secret in a file", async () => {
    const env = '[servers.env]\nTOKEN = { fromFile = "token" }';
    await using rig = await Rig.start(echoServer("other") + echoServer("p", [], env), { files: { token: "one\n" } });
    const other = await rig.who("other");
    expect((await rig.who("p")).token).toBe("one");
    rig.replace("token", "two\n");
    await until(async () => ((await rig.who("p")).token === "two" ? true : undefined), "the new secret");
    expect((await rig.who("other")).pid).toBe(other.pid);
    const { pid } = await rig.who("p");
    unlinkSync(join(rig.gateway.program.folder, "token"));
    const { program } = rig.gateway;
    await until(() => program.stderr.includes("secrets cannot be read, the former ones stay") || undefined, "a word");
    expect(await rig.who("p")).toMatchObject({ token: "two", pid });
    rig.replace("token", "three\n");
    await until(async () => ((await rig.who("p")).token === "three" ? true : undefined), "the secret that came back");
  });

  test("is followed through links that are turned elsewhere, as Kubernetes does", async () => {
    await using rig = await Rig.start(echoServer("p"));
    const at = (name: string) => join(rig.gateway.program.folder, name);
    for (const name of ["one", "two"]) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/isthmus.toml`), echoServer("p", [name]));
    }
    symlinkSync("one", at("..data"));
    symlinkSync("..data/isthmus.toml", at("link"));
    renameSync(at("link"), at("isthmus.toml"));
    await rig.untilTool("p.one");
    symlinkSync("two", at("..next"));
    renameSync(at("..next"), at("..data"));
    await rig.untilTool("p.two");
  });

  test("stays in force while the file is away, and is read again on SIGHUP", async () => {
    await using rig = await Rig.start(echoServer("p"));
    unlinkSync(join(rig.gateway.program.folder, "isthmus.toml"));
    await rig.untilReloads("refused", 1);
    expect(rig.gateway.program.stderr).toContain("isthmus.toml: there is no such file");
    expect((await rig.who("p")).args).toEqual([]);
    rig.gateway.program.child.kill("SIGHUP");
    await rig.untilReloads("refused", 2);
    rig.replace("isthmus.toml", echoServer("p", ["back"]));
    rig.gateway.program.child.kill("SIGHUP");
    await rig.untilTool("p.back");
  });

  test("ends the sessions of a catalog that is gone", async () => {
    await using rig = await Rig.start(echoServer("kept") + echoServer("gone"));
    const url = `${rig.gateway.origin}/gone/mcp`;
    const session = await openSession(url);
    expect((await post(url, { id: 1, method: "tools/list" }, session)).status).toBe(200);
    const sessions = () => counter(rig.gateway.origin, "isthmus_sessions");
    expect(await sessions()).toBe(2);
    rig.replace("isthmus.toml", echoServer("kept"));
    await until(async () => ((await sessions()) === 1 ? true : undefined), "the end of the session");
    expect((await post(url, { id: 1, method: "tools/list" }, session)).status).toBe(404);
    expect((await rig.who("kept")).args).toEqual([]);
  });

  test("leaves nothing behind, however often it changes", async () => {
    await using rig = await Rig.start(echoServer("p", ["edit_0"]));
    const before = descendants(rig.gateway.program.pid).length;
    for (let edit = 1; edit <= 10; edit++) {
      rig.replace("isthmus.toml", echoServer("p", [`edit_${edit}`]));
      await rig.untilTool(`p.edit_${edit}`);
      expect((await rig.who("p")).args).toEqual([`edit_${edit}`]);
    }
    await until(() => descendants(rig.gateway.program.pid).length === before || undefined, "the end of former servers");
    expect(await counter(rig.gateway.origin, "isthmus_upstream_sessions")).toBe(1);
    expect(await counter(rig.gateway.origin, "isthmus_runs_open")).toBe(0);
  });

  test("ends with the gateway: nothing is left of either config", async () => {
    const rig = await Rig.start(echoServer("p"));
    const former = await rig.who("p");
    rig.replace("isthmus.toml", echoServer("p", ["more"]));
    await rig.untilTool("p.more");
    const { pid } = await rig.who("p");
    expect(await rig.gateway.stop()).toBe(0);
    expect(await waitForEnd([former.pid, pid])).toEqual([]);
  });
});
