import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConfigSource } from "./config-source.ts";

describe("ConfigSource", () => {
  let folder = "";
  let file = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-"));
    file = join(folder, "isthmus.toml");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    vi.unstubAllEnvs();
  });

  test("stays with the file that was chosen while it is away", () => {
    writeFileSync(file, "");
    const source = new ConfigSource({ config: file }, "program");
    const running = source.read();
    rmSync(file);
    expect(() => source.read(running)).toThrow("there is no such file");
    expect(source.watched).toEqual([file]);
  });

  test("watches the files of secrets, also when a server is invalid because of them", () => {
    const server = '[[servers]]\nid = "a"\ncommand = "x"\nenv.A = { fromFile = "one" }\nenv.B = { fromFile = "two" }\n';
    writeFileSync(file, server);
    writeFileSync(join(folder, "one"), "1");
    const source = new ConfigSource({ config: file }, "program");
    expect(source.read().servers).toMatchObject([{ fault: expect.stringContaining('the file "two"') }]);
    expect(source.watched).toEqual([file, join(folder, "one"), join(folder, "two")]);
  });

  test("refuses at a reload what needs a restart, and says where it stands", () => {
    writeFileSync(file, "");
    const source = new ConfigSource({ config: file }, "program");
    const running = source.read();
    writeFileSync(file, '\n[gateway]\nlisten = "127.0.0.1:1"\n');
    expect(() => source.read(running)).toThrow(
      /isthmus\.toml:3: gateway\.listen: cannot change .* restart to change it/,
    );
  });

  test("lets a flag win over the file at every read", () => {
    writeFileSync(file, "");
    const source = new ConfigSource({ config: file, listen: "127.0.0.1:2" }, "program");
    const running = source.read();
    writeFileSync(file, '[gateway]\nlisten = "127.0.0.1:1"\n');
    expect(source.read(running).gateway.listen.port).toBe(2);
  });

  test("lets ISTHMUS_LISTEN win over the file, and a flag over both", () => {
    vi.stubEnv("ISTHMUS_LISTEN", "127.0.0.1:3");
    writeFileSync(file, '[gateway]\nlisten = "127.0.0.1:1"\n');
    expect(new ConfigSource({ config: file }, "program").read().gateway.listen.port).toBe(3);
    const flagged = new ConfigSource({ config: file, listen: "127.0.0.1:2" }, "program");
    expect(flagged.read().gateway.listen.port).toBe(2);
  });

  test.each([
    ["--listen", { listen: "nowhere" }],
    ["ISTHMUS_LISTEN", {}],
  ])("blames %s for an address that is none, and not the file", (name, flags) => {
    vi.stubEnv("ISTHMUS_LISTEN", "nowhere");
    writeFileSync(file, '[gateway]\nlisten = "127.0.0.1:1"\n');
    const source = new ConfigSource({ config: file, ...flags }, "program");
    const said = new RegExp(`^${name}: gateway\\.listen: expected HOST:PORT[^\\n]*found "nowhere"$`);
    expect(() => source.read()).toThrow(said);
    expect(() => source.place()).toThrow(said);
  });

  test("blames an option for a database that is none", () => {
    writeFileSync(file, "");
    const source = new ConfigSource({ config: file, database: "mysql:x" }, "program");
    expect(() => source.read()).toThrow(/^--database: database\.url: expected a URL that begins/);
  });
});
