import { describe, expect, test } from "vitest";
import { readClientDocument } from "./client-document.ts";

const context = { env: { HOME: "/home/ada", API_BASE: "https://api.test" }, folder: "/srv", home: "/home/ada" };
const read = (document: unknown) => readClientDocument(JSON.stringify(document), context);

describe("readClientDocument", () => {
  test("reads Claude Desktop", () => {
    const { servers, path } = read({
      globalShortcut: "Alt+Space",
      mcpServers: {
        filesystem: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"] },
        github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_x", DEBUG: true, RETRIES: 3 } },
      },
    });
    expect(path).toEqual(["mcpServers"]);
    expect(servers).toEqual([
      {
        name: "filesystem",
        server: {
          command: "npx",
          args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada/Desktop"],
          env: {},
        },
        notes: [],
      },
      {
        name: "github",
        server: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_x", DEBUG: "true", RETRIES: "3" } },
        notes: [],
      },
    ]);
  });

  test("reads remote servers of Cursor, Windsurf, Gemini and Cline", () => {
    const { servers } = read({
      mcpServers: {
        cursor: { url: "https://a.test/mcp", headers: { Authorization: "Bearer ${env:TOKEN}" } },
        windsurf: { serverUrl: "https://b.test/mcp" },
        gemini: { httpUrl: "https://c.test/mcp" },
        cline: { type: "sse", url: "https://d.test/sse", autoApprove: [] },
      },
    });
    expect(servers.map(({ server }) => server)).toEqual([
      { url: "https://a.test/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
      { url: "https://b.test/mcp", headers: {} },
      { url: "https://c.test/mcp", headers: {} },
      { transport: "sse", url: "https://d.test/sse", headers: {} },
    ]);
  });

  test("keeps a variable that has a default wherever it stands", () => {
    const { servers } = read({
      mcpServers: {
        local: { command: "${RUN:-node}", args: ["${env:ROOT:-.}/a.js"], cwd: "${AT:-/srv}/x" },
        remote: { url: "${API_BASE:-nowhere}/mcp" },
        nowhere: { url: "${NOT_SET:-nowhere}/mcp" },
      },
    });
    expect(servers.map(({ server, notes }) => [server, ...notes])).toEqual([
      [{ command: "${RUN:-node}", args: ["${ROOT:-.}/a.js"], cwd: "${AT:-/srv}/x", env: {} }],
      [{ url: "${API_BASE:-nowhere}/mcp", headers: {} }],
      [undefined, "has a url that is not http(s): ${NOT_SET:-nowhere}/mcp"],
    ]);
  });

  test("reads the variables of a project's .mcp.json", () => {
    const { servers } = read({
      mcpServers: {
        api: { url: "${API_BASE:-https://fallback.test}/mcp", headers: { "X-Key": "${API_KEY}" } },
        local: {
          command: "${HOME}/bin/server",
          args: ["--cache", "${CACHE:-/tmp/cache}", "--token=${SECRET}"],
          env: { MODE: "${MODE:-fast}", TOKEN: "${SECRET}" },
        },
      },
    });
    expect(servers[0]?.server).toEqual({
      url: "${API_BASE:-https://fallback.test}/mcp",
      headers: { "X-Key": { fromEnv: "API_KEY" } },
    });
    expect(servers[1]?.server).toEqual({
      command: "/home/ada/bin/server",
      args: ["--cache", "${CACHE:-/tmp/cache}", "--token=${SECRET}"],
      env: { MODE: "${MODE:-fast}", TOKEN: { fromEnv: "SECRET" } },
    });
    expect(servers[0]?.notes).toEqual([]);
    expect(servers[1]?.notes).toEqual([
      'its command holds ${HOME}: "/home/ada" stands in its place from now on',
      "an argument holds ${SECRET}: without a default it is filled in only in env and headers; edit it",
    ]);
  });

  test("reads VS Code, and asks in the environment for what VS Code asks for", () => {
    const document = {
      inputs: [{ type: "promptString", id: "perplexity-key", description: "Perplexity API Key", password: true }],
      servers: {
        perplexity: {
          type: "stdio",
          command: "npx",
          args: ["-y", "server-perplexity", "${workspaceFolder}/data"],
          env: { PERPLEXITY_API_KEY: "${input:perplexity-key}", HOME_DIR: "${userHome}/x" },
          envFile: "${workspaceFolder}/.env",
        },
        github: { type: "http", url: "https://api.githubcopilot.com/mcp/" },
      },
    };
    const { servers, path } = read(document);
    expect(path).toEqual(["servers"]);
    expect(servers[0]).toEqual({
      name: "perplexity",
      server: {
        command: "npx",
        args: ["-y", "server-perplexity", "/srv/data"],
        env: { PERPLEXITY_API_KEY: { fromEnv: "PERPLEXITY_KEY" }, HOME_DIR: "/home/ada/x" },
      },
      notes: [
        "its envFile is not read; name its variables under env",
        "set PERPLEXITY_KEY before the gateway starts (Perplexity API Key): VS Code asked for it",
      ],
    });
    expect(servers[1]?.server).toEqual({ url: "https://api.githubcopilot.com/mcp/", headers: {} });
    expect(read({ mcp: document }).path).toEqual(["mcp", "servers"]);
    expect(read({ mcp: document }).servers[0]?.notes.join()).toContain("Perplexity API Key");
  });

  test("says nothing of an input of VS Code that has no description", () => {
    const { servers } = read({
      inputs: [{ id: "key", description: "" }],
      servers: { a: { command: "x", env: { KEY: "${input:key}" } } },
    });
    expect(servers[0]?.notes).toEqual(["set KEY before the gateway starts: VS Code asked for it"]);
  });

  test("says why a server cannot be taken", () => {
    const { servers } = read({
      mcpServers: { off: { command: "x", disabled: true }, empty: {}, text: "x", ws: { url: "wss://a.test" } },
    });
    expect(servers.map(({ name, server, notes }) => [name, server, ...notes])).toEqual([
      ["off", undefined, "is disabled there"],
      ["empty", undefined, "has neither a command nor a url"],
      ["text", undefined, "is no object"],
      ["ws", undefined, "has a url that is not http(s): wss://a.test"],
    ]);
  });

  test("refuses what is nobody's file", () => {
    expect(() => read({ name: "x" })).toThrow(/has no servers; expected "mcpServers"/);
    expect(() => readClientDocument("{", context)).toThrow(SyntaxError);
  });
});

describe("readClientDocument of a registry's server.json", () => {
  const weather = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
    name: "io.github.ada/weather-mcp",
    description: "Weather",
    version: "1.2.0",
  };

  test("starts an npm package", () => {
    const { servers, path } = read({
      ...weather,
      packages: [
        { registryType: "mcpb", identifier: "https://x.test/a.mcpb", transport: { type: "stdio" } },
        {
          registryType: "npm",
          identifier: "@ada/weather",
          version: "1.2.0",
          transport: { type: "stdio" },
          runtimeArguments: [{ type: "named", name: "--loglevel", value: "error" }],
          packageArguments: [
            { type: "positional", value: "serve" },
            { type: "named", name: "--units", default: "metric" },
            { type: "named", name: "--city", isRequired: true, description: "where" },
          ],
          environmentVariables: [
            { name: "WEATHER_KEY", isRequired: true, isSecret: true, description: "from weather.test" },
            { name: "LANG_CODE", default: "de" },
            { name: "OPTIONAL" },
          ],
        },
      ],
    });
    expect(path).toBeUndefined();
    expect(servers).toEqual([
      {
        name: "weather-mcp",
        server: {
          command: "npx",
          args: ["-y", "--loglevel", "error", "@ada/weather@1.2.0", "serve", "--units", "metric"],
          env: { WEATHER_KEY: { fromEnv: "WEATHER_KEY" }, LANG_CODE: "de" },
        },
        notes: [
          "set WEATHER_KEY before the gateway starts (from weather.test)",
          "add the argument --city to its args (where)",
        ],
      },
    ]);
  });

  test("starts a PyPI package and an image", () => {
    const pypi = read({ ...weather, packages: [{ registryType: "pypi", identifier: "weather", version: "2.0" }] });
    expect(pypi.servers[0]?.server).toMatchObject({ command: "uvx", args: ["weather@2.0"] });
    const oci = read({
      ...weather,
      packages: [
        { registryType: "oci", identifier: "ada/weather", environmentVariables: [{ name: "K", isRequired: true }] },
      ],
    });
    expect(oci.servers[0]?.server).toMatchObject({
      command: "docker",
      args: ["run", "-i", "--rm", "-e", "K", "ada/weather:1.2.0"],
    });
  });

  test("reaches a remote, also when the registry's API wraps it", () => {
    const remotes = [
      {
        type: "sse",
        url: "https://weather.test/sse",
        headers: [{ name: "X-Api-Key", isRequired: true, isSecret: true }],
      },
    ];
    expect(read({ server: { ...weather, remotes } }).servers[0]?.server).toEqual({
      transport: "sse",
      url: "https://weather.test/sse",
      headers: { "X-Api-Key": { fromEnv: "X_API_KEY" } },
    });
  });

  test("says so when there is nothing that can be started or reached", () => {
    const { servers } = read({ ...weather, packages: [{ registryType: "mcpb", identifier: "x" }] });
    expect(servers[0]).toMatchObject({ server: undefined, notes: ["has no package of npm, pypi, oci and no remote"] });
  });
});
