import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { helloServer, startGateway } from "./kit/gateway.ts";
import { descendants, waitForEnd } from "./kit/processes.ts";
import { runProgram } from "./kit/program.ts";
import { openSession, post, toolCall } from "./kit/rpc.ts";

describe("signals", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s ends the gateway with 0 and its servers with it", async (signal) => {
    await using gateway = await startGateway({ config: helloServer() });
    const children = descendants(gateway.program.pid);
    expect(children.length).toBeGreaterThan(0);
    expect(await gateway.program.stop(signal)).toBe(0);
    expect(await waitForEnd(children)).toEqual([]);
  });

  test("an open call ends before the gateway does", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const session = await openSession(gateway.url);
    const call = post(gateway.url, toolCall(1, "hello.count", { to: 20 }), session);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopped = gateway.stop();
    expect((await call).messages.at(-1)).toMatchObject({ result: { content: [{ text: "Counted to 20." }] } });
    expect(await stopped).toBe(0);
  });

  test("a call that takes longer than `drain` is cut off", async () => {
    await using gateway = await startGateway({ config: `[gateway]\ndrain = "100ms"\n${helloServer()}` });
    const session = await openSession(gateway.url);
    const call = post(gateway.url, toolCall(1, "hello.count", { to: 10_000 }), session).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await gateway.stop()).toBe(0);
    // To count to the end would take more than three minutes.
    expect(JSON.stringify(await call)).not.toContain("Counted to");
  });

  test("a second signal ends it at once", async () => {
    await using gateway = await startGateway({ config: helloServer() });
    const session = await openSession(gateway.url);
    const call = post(gateway.url, toolCall(1, "hello.count", { to: 10_000 }), session).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    gateway.program.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await gateway.stop()).toBe(1);
    await call;
  });

  test("SIGKILL leaves no server behind", async () => {
    await using gateway = await startGateway({ config: helloServer("one") + helloServer("two") });
    const children = descendants(gateway.program.pid);
    expect(children.length).toBeGreaterThanOrEqual(2);
    await gateway.program.stop("SIGKILL");
    expect(await waitForEnd(children)).toEqual([]);
  });
});

describe("exit codes", () => {
  test("3, with every problem on its line, when the config cannot be used", async () => {
    const config = '[gateway]\nlogLevl = "info"\n[[servers]]\nid = "crm"\nurl = "crm.local"\n';
    expect(await runProgram(["up"], { config })).toEqual({
      code: 3,
      stdout: "",
      stderr:
        'isthmus: isthmus.toml:2: gateway.logLevl: unknown key, did you mean "logLevel"?\n' +
        'isthmus: isthmus.toml:5: servers.crm.url: expected an http(s) URL, found "crm.local"\n',
    });
  });

  test("3 when the named config is missing", async () => {
    const { code, stderr } = await runProgram(["up", "--config", "none.toml"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^isthmus: none\.toml: there is no such file\n$/);
  });

  test.each(["0.0.0.0:0", "[::]:0", "192.168.1.2:7411"])(
    "3 when it is to listen on %s without authentication",
    async (listen) => {
      const { code, stderr } = await runProgram(["up", "--listen", listen], { config: "" });
      expect(code).toBe(3);
      expect(stderr).toContain(`isthmus: --listen: gateway.listen: found "${listen}": other machines reach it`);
      expect(stderr).toContain("set [auth]");
    },
  );

  test("4 when the address is taken", async () => {
    await using gateway = await startGateway({ config: "" });
    const { code, stderr } = await runProgram(["up", "--listen", new URL(gateway.url).host], { config: "" });
    expect(code).toBe(4);
    expect(stderr).toContain("another Isthmus listens there already");
  });

  test("4 when a program has the address that is no gateway", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await runProgram(["up", "--listen", `127.0.0.1:${port}`], { config: "" });
    server.close();
    expect(code).toBe(4);
    expect(stderr).toContain("another program listens there; --listen chooses another");
  });

  test.each([[["sideways"]], [["up", "--sideways"]], [["up", "--log-level", "loud"]]])("2 for %s", async (args) => {
    expect((await runProgram(args)).code).toBe(2);
  });

  test("2 when stdio is to serve a catalog that does not exist", async () => {
    const { code, stderr } = await runProgram(["stdio", "--catalog", "nope"], { config: helloServer() });
    expect(code).toBe(2);
    expect(stderr).toBe('isthmus: --catalog: expected the id of a server or a catalog, found "nope"\n');
  });

  test("0 for --help", async () => {
    const { code, stdout } = await runProgram(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Exit codes:");
    expect(stdout).not.toContain("demo-server");
  });
});
