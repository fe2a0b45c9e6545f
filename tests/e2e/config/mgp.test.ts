/** MGP's own config files, as its document describes them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGateway } from "../kit/gateway.ts";
import { waitForEnd } from "../kit/processes.ts";
import { ROOT, runProgram } from "../kit/program.ts";
import { post, toolCall } from "../kit/rpc.ts";
import { echoServer, type Who } from "./rig.ts";
import { until } from "./watching.ts";

const MGP = `[servers.mgp]
extensions = ["security", "lifecycle", "streaming"]
permissions_required = ["filesystem.read"]
trust_level = "standard"
restart_policy = "on_failure"
`;

async function who(url: string, tool: string): Promise<Who> {
  const { messages } = await post(url, toolCall(1, tool, {}));
  const [content] = (messages.at(-1)?.result?.content ?? []) as { text: string }[];
  return JSON.parse(content?.text ?? "{}");
}

describe("MGP's files", () => {
  test("are found as ./mgp.toml over the user's servers.toml, put together by id [MG-321] [MG-322]", async () => {
    const files = {
      "mgp.toml": echoServer("both", ["near"]),
      ".config/mgp/servers.toml": echoServer("both", ["far"]) + echoServer("user", ["far"]),
    };
    await using gateway = await startGateway({ files });
    expect(gateway.servers.map(({ id, status }) => [id, status])).toEqual([
      ["both", "ok"],
      ["user", "ok"],
    ]);
    expect((await who(gateway.url, "both.who")).args).toEqual(["near"]);
    expect((await who(gateway.url, "user.who")).args).toEqual(["far"]);
  });

  test("give way to the one that MGP_CONFIG_PATH names [MG-323]", async () => {
    const files = { "mgp.toml": echoServer("near"), "team/servers.toml": echoServer("team") };
    await using gateway = await startGateway({ files, env: { MGP_CONFIG_PATH: "team/servers.toml" } });
    expect(gateway.servers.map(({ id }) => id)).toEqual(["team"]);
  });

  test("name a server by id, command, args and transport [MG-324] [MG-325] [MG-326] [MG-327] [MG-328]", async () => {
    const config = echoServer("docs.search", ["find"], 'transport = "stdio"');
    await using gateway = await startGateway({ files: { "mgp.toml": config } });
    expect(gateway.servers).toEqual([{ id: "docs.search", status: "ok", tools: 4 }]);
    expect((await who(gateway.url, "docs_search.find")).args).toEqual(["find"]);
    const wrong = await runProgram(["up"], { files: { "mgp.toml": config.replace('"stdio"', '"carrier-pigeon"') } });
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain('mgp.toml:5: servers.docs.search.transport: expected "stdio" or "http"');
  });

  test("tell what a server speaks and how far it is trusted before it is reached [MG-329] [MG-331]", async () => {
    const server = `[[servers]]\nid = "down"\ncommand = "/no/such/program"\n${MGP}`;
    await using gateway = await startGateway({ files: { "mgp.toml": server } });
    expect(gateway.servers).toMatchObject([
      {
        id: "down",
        status: "unreachable",
        mgp: { extensions: ["security", "lifecycle", "streaming"], trust_level: "standard" },
      },
    ]);
  });

  test("say whether a server that was lost is started again [MG-332]", async () => {
    const never = MGP.replace("on_failure", "never");
    const always = MGP.replace("on_failure", "always");
    const config = echoServer("never", [], never) + echoServer("again", [], MGP) + echoServer("always", [], always);
    await using gateway = await startGateway({ files: { "mgp.toml": config } });
    const pids = await Promise.all(
      ["never", "again", "always"].map(async (id) => (await who(gateway.url, `${id}.who`)).pid),
    );
    for (const pid of pids) process.kill(pid, "SIGKILL");
    expect(await waitForEnd(pids)).toEqual([]);
    const states = async () => {
      const { servers } = (await (await fetch(`${gateway.origin}/readyz`)).json()) as { servers: object };
      return servers;
    };
    const settled = { never: "unreachable", again: "ok", always: "ok" };
    await until(async () => JSON.stringify(await states()) === JSON.stringify(settled) || undefined, "the restarts");
    expect(await states()).toEqual(settled);
  });

  test("take values from the environment of the gateway, and say which is missing [MG-333]", async () => {
    const files = { "mgp.toml": echoServer("docs", [], `[servers.env]\nTOKEN = "Bearer \${DOCS_TOKEN}"`) };
    await using gateway = await startGateway({ files, env: { DOCS_TOKEN: "hunter2" } });
    expect((await who(gateway.url, "docs.who")).token).toBe("Bearer hunter2");
    expect(gateway.program.stderr).not.toContain("hunter2");
    await using without = await startGateway({ files });
    const message = 'servers.docs.env.TOKEN: the environment variable "DOCS_TOKEN" is not set';
    expect(without.servers).toMatchObject([{ status: "invalid", message: expect.stringContaining(message) }]);
  });

  test("work without MGP's table, which takes nothing from what other clients read [MG-334] [MG-335]", async () => {
    const plain = echoServer("plain");
    const files = { "mgp.toml": plain + echoServer("extended", [], MGP) };
    await using gateway = await startGateway({ files });
    expect(gateway.servers.map(({ id, status }) => [id, status])).toEqual([
      ["plain", "ok"],
      ["extended", "ok"],
    ]);
    const schema = JSON.parse(readFileSync(join(ROOT, "dist/isthmus.schema.json"), "utf8"));
    const { required, properties } = schema.properties.servers.items;
    expect(required).toEqual(["id"]);
    expect(properties.mgp.required).toBeUndefined();
  });
});
