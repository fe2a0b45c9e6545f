import { expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

test("a list of which a part is left out says so in list, status, doctor and where a tool is not found", async () => {
  await using workspace = new Workspace();
  const listen = `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n`;
  workspace.write("isthmus.toml", `${listen}${scriptServer("hello", HELLO)}maxEntries = 2\n`);
  await workspace.serve("up", ["hello"]);
  const cut = "tools/list is cut short: it has more than 2 entries";
  const said = async (...args: string[]) => {
    const { stdout, stderr } = await workspace.run(...args);
    return (stdout + stderr).replaceAll(/\s+/g, " ");
  };
  expect(await said("list")).toContain(`Not whole: hello ${cut}: raise maxEntries of the server`);
  expect(await said("status")).toContain(`hello ok 2 tools ${cut}: raise maxEntries of the server`);
  expect(await said("doctor")).toContain(
    `servers.hello: 2 tools, but ${cut} -> raise maxEntries of the server "hello"`,
  );
  expect(await said("call", "hello.nothing")).toContain(`isthmus: not all of hello is offered: ${cut}`);
});
