import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ODD, scriptServer, Workspace } from "../cli/workspace.ts";
import { ROOT } from "../kit/program.ts";
import { Company } from "./company.ts";
import { NPX, npxEnvironment } from "./npm-package.ts";

const USERS_VERSION = "v18.99.0";
const FREE = '[gateway]\nlisten = "127.0.0.1:0"\n';

describe("behind a company's proxy and certificate authority", () => {
  test("npx fetches a server from the company's registry, and it works", async () => {
    await using company = await Company.open(NPX);
    await company.expectFetched(npxEnvironment(company));
  });

  test.each([
    ["in their home", "home/.npmrc", undefined],
    ["that a variable names", "npmrc", "npm_config_userconfig"],
  ])("npx obeys the user's own .npmrc %s: registry, authority and proxy", async (_, name, variable) => {
    await using company = await Company.open(NPX);
    const { registryUrl, authority, proxyUrl } = company.network;
    const text = `registry=${registryUrl}\ncafile=${authority}\nhttps-proxy=${proxyUrl}\n`;
    await company.expectFetched(company.write(name, text, variable));
  });
});

describe("a gateway that a script of npm has started", () => {
  /** The folder of a `node` that is of another version than any other. */
  function usersNode(workspace: Workspace): string {
    const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo ${USERS_VERSION}\nexec '${process.execPath}' "$@"\n`;
    chmodSync(workspace.write("users-node/node", script), 0o755);
    return workspace.path("users-node");
  }

  test("starts servers with the Node that its user had before, not with that of the clone", async () => {
    await using workspace = new Workspace();
    const start = JSON.stringify(`SEEN_NODE=$(node --version) exec node '${join(ROOT, ODD)}'`);
    const server = `[[servers]]\nid = "odd"\ncommand = "sh"\nargs = ["-c", ${start}]\n`;
    const config = workspace.write("isthmus.toml", FREE + server);
    const env = { HOME: workspace.folder, PATH: usersNode(workspace) + delimiter + process.env.PATH };
    const words = ["run", "-s", "isthmus", "--", "call", "odd.env", "name=SEEN_NODE", "--config", config];
    const { stdout, stderr } = spawnSync("npm", words, { cwd: ROOT, env, encoding: "utf8", timeout: 60_000 });
    expect(stdout, stderr).toBe(`${USERS_VERSION}\n`);
  });

  test("starts a server with its own Node where its user has none", async () => {
    await using workspace = new Workspace();
    const script = JSON.stringify(join(ROOT, ODD));
    workspace.write("isthmus.toml", `${FREE}[[servers]]\nid = "odd"\ncommand = "node"\nargs = [${script}]\n`);
    const env = { PATH: workspace.path("nothing-here") };
    expect(await workspace.start(["call", "odd.env", "name=HOME"], env).ended).toMatchObject({ code: 0 });
  });

  test("hands on no secret that is not the server's", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", FREE + scriptServer("odd", ODD));
    const env = { ISTHMUS_TOKEN: "secret", "npm_config_//registry.company.test/:_authToken": "secret" };
    for (const name of Object.keys(env)) {
      expect(await workspace.start(["call", "odd.env", `name=${name}`], env).ended).toMatchObject({
        stdout: "unset\n",
      });
    }
  });
});
