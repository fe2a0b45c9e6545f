import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { withDisabled, withoutServer } from "./edit-server.ts";

const TEXT = `# my gateway
[gateway]
listen = "127.0.0.1:7411"

# files, for everybody
[[servers]]
id = "files" # [[servers]]
command = "npx"
args = [
  "a", # [servers.env]
  "[[servers]]",
]
[servers.env]
TOKEN = { fromEnv = "TOKEN" }

# the crm
[[servers]]
id = "crm"
url = "http://127.0.0.1:9000/mcp"

[servers.headers]
X = """
[[servers]]
"""

# who may do what
[access]
defaultPolicy = "opt-in"
`;
const idsIn = (text: string) => (parse(text).servers as { id: string }[] | undefined)?.map(({ id }) => id);

describe("withoutServer", () => {
  test.each([
    [0, ["crm"]],
    [1, ["files"]],
  ])("takes out table %i with all that is in it, and nothing else", (index, left) => {
    const text = withoutServer(TEXT, index) ?? "";
    expect(idsIn(text)).toEqual(left);
    const before: Record<string, unknown> = parse(TEXT);
    expect(parse(text)).toEqual({ ...before, servers: (before.servers as unknown[]).toSpliced(index, 1) });
    expect(text).toContain("# who may do what\n[access]");
    expect(text).toContain("# the crm\n");
  });

  test("takes out the last one, and one without a line end", () => {
    expect(withoutServer('[[servers]]\nid = "a"\n\n[[servers]]\nid = "b"', 1)).toBe('[[servers]]\nid = "a"\n\n');
    expect(withoutServer('[[servers]]\nid = "a"', 0)).toBe("");
  });

  test("finds a table whose own tables stand further down", () => {
    const text = '[[servers]]\nid = "a"\n[gateway]\nnaming = "dotted"\n';
    expect(withoutServer(text, 0)).toBe('[gateway]\nnaming = "dotted"\n');
  });

  test("leaves a list that is written in one go to its owner", () => {
    expect(withoutServer('servers = [{ id = "a", command = "x" }]\n', 0)).toBeUndefined();
  });
});

describe("withDisabled", () => {
  test("writes one line below the header, and takes back just that", () => {
    for (const index of [0, 1]) {
      const off = withDisabled(TEXT, index, true) ?? "";
      const servers = parse(off).servers as { disabled?: boolean }[];
      expect(servers.map(({ disabled }) => disabled === true)).toEqual([index === 0, index === 1]);
      expect(withDisabled(off, index, true)).toBe(off);
      expect(withDisabled(off, index, false)).toBe(TEXT);
    }
    expect(withDisabled(TEXT, 0, false)).toBe(TEXT);
  });

  test("takes the place of what is written elsewhere in the table, with the line ends of the file", () => {
    const text = '[[servers]]\r\nid = "a"\r\ndisabled = false # for now\r\ncommand = "x"\r\n';
    expect(withDisabled(text, 0, true)).toBe('[[servers]]\r\ndisabled = true\r\nid = "a"\r\ncommand = "x"\r\n');
    expect(withDisabled("[[servers]]", 0, true)).toBe("[[servers]]\ndisabled = true\n");
  });
});
