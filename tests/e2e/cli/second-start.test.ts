/** A gateway that is started where one runs already: who that is, and what to do. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

/** With a gateway that runs. */
async function running(gateway = ""): Promise<{ workspace: Workspace; port: number }> {
  const workspace = new Workspace();
  const port = await freePort();
  const config = (listen: number) =>
    `[gateway]\nlisten = "127.0.0.1:${listen}"\n${gateway}${scriptServer("hello", HELLO)}`;
  workspace.write("isthmus.toml", config(port));
  workspace.write("other.toml", config(port));
  await workspace.serve("up", ["hello"]);
  return { workspace, port };
}

describe("a second isthmus up", () => {
  test("names the gateway that has the state, where it listens, and its config", async () => {
    const { workspace, port } = await running();
    await using _ = workspace;
    const { code, stderr } = await workspace.run("up");
    expect(code).toBe(10);
    expect(stderr).toContain("is in use by another gateway");
    const file = workspace.path("isthmus.toml");
    expect(stderr).toContain(`your gateway, with ${file}, listens on http://127.0.0.1:${port}\n`);
  });

  test("is told that the first one follows the same config already", async () => {
    const { workspace, port } = await running();
    await using _ = workspace;
    const { code, stderr } = await workspace.run("up", "--database", "memory:");
    expect(code).toBe(4);
    expect(stderr).toContain(
      `cannot listen on 127.0.0.1:${port}: your gateway, with ${workspace.path("isthmus.toml")},`,
    );
    expect(stderr).toContain("it takes over changes of its config by itself");
  });

  test("with another config is told to stop the first one, or to go elsewhere", async () => {
    const { workspace } = await running();
    await using _ = workspace;
    const { code, stderr } = await workspace.run("up", "--database", "memory:", "--config", "other.toml");
    expect(code).toBe(4);
    expect(stderr).toContain(`your gateway, with ${workspace.path("isthmus.toml")}, listens there already`);
    expect(stderr).toContain("or choose another address with --listen");
  });

  test("of somebody else hears of no file, and nor does whoever can only connect", async () => {
    const { workspace, port } = await running();
    await using _ = workspace;
    await using other = new Workspace();
    other.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${port}"\n`);
    const { code, stderr } = await other.run("up");
    expect(code).toBe(4);
    expect(stderr).toContain("another Isthmus listens there already");
    expect(stderr).not.toContain(workspace.folder);
    const about = await (await fetch(`http://127.0.0.1:${port}/api/about`)).json();
    expect(about).toMatchObject({ name: "isthmus" });
    expect(about).not.toHaveProperty("config");
  });

  test.each([{}, { ISTHMUS_TOKEN: "of-another-gateway" }])(
    "shows no token to a program that only says that it is Isthmus (%j)",
    async (env) => {
      const heard: string[] = [];
      const server = createServer(({ url, rawHeaders }, response) => {
        heard.push([url, ...rawHeaders].join(" "));
        response.end('{"name":"isthmus","role":"admin","config":["/etc/passwd"],"proof":"x"}');
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      await using workspace = new Workspace();
      workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${port}"\n`);
      const { stderr } = await workspace.start(["up"], env).ended;
      server.close();
      expect(stderr).toContain("another Isthmus listens there already");
      expect(heard.length).toBeGreaterThan(0);
      expect(heard.join("\n")).not.toMatch(/authorization|of-another-gateway/i);
    },
  );
});
