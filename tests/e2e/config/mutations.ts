/** Ways to break a config file that a person, an editor or a disk really has. Each one makes a file that must be refused. */
import { Random } from "./random.ts";

export type Mutated = {
  readonly name: string;
  readonly bytes: Buffer;
  /** The line that a message must name, where the fault has one. */
  readonly line?: number;
  /** A text that a message must hold: what was probably meant, or what helps. */
  readonly says?: string;
};

/** A line of the base file that gives a key a value. */
type KeyLine = { readonly at: number; readonly key: string; readonly value: string; readonly table: string };

type Base = { readonly lines: readonly string[]; readonly keys: readonly KeyLine[] };

type Mutation = (base: Base, random: Random) => Omit<Mutated, "name">;

/** `count` broken files, no two alike, always the same ones for the same text and seed. */
export function mutateConfig(text: string, count: number, seed: number): Mutated[] {
  const random = new Random(seed);
  const base = readBase(text);
  const kinds = Object.entries(MUTATIONS);
  const found = new Map<string, Mutated>();
  for (let round = 0; found.size < count && round < count * kinds.length; round++) {
    const [kind, mutate] = kinds[round % kinds.length] as [string, Mutation];
    const mutated = mutate(base, random);
    const key = mutated.bytes.toString("latin1");
    if (!found.has(key)) found.set(key, { name: `${found.size} ${kind}`, ...mutated });
  }
  return [...found.values()];
}

function readBase(text: string): Base {
  const lines = text.split("\n");
  let table = "";
  const keys = lines.flatMap((line, at): KeyLine[] => {
    const header = /^\[+([\w.]+)\]+$/.exec(line);
    if (header) table = header[1] as string;
    const [, key, value] = /^(\w+) = (.+)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ at, key, value, table }];
  });
  return { lines, keys };
}

const isFree = ({ table }: KeyLine) => /\.(env|headers|rename|descriptions)$/.test(table);

function withLine({ lines }: Base, at: number, ...put: readonly string[]): Buffer {
  return Buffer.from(lines.toSpliced(at, 1, ...put).join("\n"));
}

/** The line with another value, or another key. */
function edit(base: Base, { at, key, value }: KeyLine, to: { key?: string; value?: string; says?: string }) {
  const bytes = withLine(base, at, `${to.key ?? key} = ${to.value ?? value}`);
  return { bytes, line: at + 1, ...(to.says !== undefined && { says: to.says }) };
}

/** With a secret that only the gateway itself has: those of a server stop that server alone. */
function sealKey(base: Base, value: string, says: string) {
  const at = base.lines.indexOf("[gateway]");
  return { bytes: withLine(base, at, "[gateway]", `sealKey = ${value}`), line: at + 2, says };
}

function keyLine(base: Base, random: Random, isRight: (line: KeyLine) => boolean): KeyLine {
  return random.pick(base.keys.filter(isRight));
}

const named =
  (...names: readonly string[]) =>
  (line: KeyLine) =>
    names.includes(line.key) && !isFree(line);

function mistype(key: string, random: Random): string {
  const at = 1 + random.below(key.length - 1);
  const dropped = key.slice(0, at) + key.slice(at + 1);
  const doubled = key.slice(0, at) + key.charAt(at) + key.slice(at);
  return random.pick([dropped, doubled]);
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "a typo in a key": (base, random) => {
    const line = keyLine(base, random, (one) => !isFree(one) && one.key.length > 3);
    return edit(base, line, { key: mistype(line.key, random), says: "did you mean" });
  },
  "a key in another spelling": (base, random) => {
    const line = keyLine(base, random, named("allowedHosts", "pageSize", "maxBody", "maxSessions"));
    const key = line.key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return edit(base, line, { key, says: `did you mean "${line.key}"?` });
  },
  "an unknown key": (base, random) => {
    const line = keyLine(base, random, (one) => !isFree(one));
    return {
      bytes: withLine(base, line.at, base.lines[line.at] as string, "colour = 'red'"),
      line: line.at + 2,
      says: "expected one of",
    };
  },
  "an unknown table": (base, random) => {
    const table = random.pick(["[gatway]", "[[server]]", "[[catalog]]"]);
    return { bytes: Buffer.from([...base.lines, table].join("\n")), line: base.lines.length + 1, says: "did you mean" };
  },
  "a value of another kind": (base, random) => {
    const line = keyLine(base, random, ({ value }) => value.startsWith('"'));
    return edit(base, line, { value: random.pick(["12345", "true", "[1]", "1.5", "2026-01-01"]), says: "expected" });
  },
  "a list that is none": (base, random) => {
    const line = keyLine(base, random, ({ value }) => value.startsWith("["));
    return edit(base, line, { value: random.pick(['"one"', "3", "true"]), says: "write it in [ ]" });
  },
  "a word that is not offered": (base, random) => {
    const line = keyLine(base, random, named("transport", "sessions", "trust_level", "restart_policy", "restart"));
    const word = line.value.replaceAll('"', "");
    return edit(base, line, { value: `"${mistype(word, random)}"`, says: "did you mean" });
  },
  "an amount without a unit": (base, random) => {
    return edit(base, keyLine(base, random, named("timeout", "drain", "maxBody")), { value: '"10"', says: "such as" });
  },
  "an address that is none": (base, random) => {
    const value = random.pick(['"htp://x"', '"crm.local"', '"//"', '"file:///etc"']);
    return edit(base, keyLine(base, random, named("url")), { value, says: "expected an http(s) URL" });
  },
  "a server twice": (base, random) => {
    const line = keyLine(base, random, ({ key, table }) => key === "id" && table === "servers");
    const copy = ["[[servers]]", base.lines[line.at] as string, 'command = "x"'];
    return {
      bytes: Buffer.from([...base.lines, ...copy].join("\n")),
      line: base.lines.length + 2,
      says: "each id once",
    };
  },
  "a prefix twice": (base) => {
    const more = ["[[servers]]", 'id = "other"', 'command = "x"', 'prefix = "files"'];
    return { bytes: Buffer.from([...base.lines, ...more].join("\n")), line: base.lines.length + 4, says: "of its own" };
  },
  "an id that is a path of ours": (base, random) => {
    const line = keyLine(base, random, ({ key, table }) => key === "id" && table === "servers");
    return edit(base, line, {
      value: random.pick(['"metrics"', '"mcp"', '"healthz"']),
      says: "no path of the gateway",
    });
  },
  "a secret of the gateway that is not set": (base) => {
    return sealKey(base, '{ fromEnv = "NOT_SET_ANYWHERE" }', "NOT_SET_ANYWHERE");
  },
  "a secret of the gateway with a typo": (base) => {
    return sealKey(base, '{ fromEnv = "CRM_AUHT" }', 'did you mean "CRM_AUTH"?');
  },
  "a secret of the gateway in a file that is none": (base, random) => {
    const file = random.pick(["none", ".", "/dev/zero", "a/b/c"]);
    return sealKey(base, `{ fromFile = "${file}" }`, "the file");
  },
  "a secret of the gateway that is the config itself": (base) => {
    return sealKey(base, '{ fromFile = "isthmus.toml" }', "the config itself");
  },
  "a reference that is misspelled": (base, random) => {
    return edit(base, keyLine(base, random, isFree), {
      value: '{ fromenv = "CRM_AUTH" }',
      says: 'did you mean "fromEnv"?',
    });
  },
  "a catalog of itself": (base, random) => {
    return edit(base, keyLine(base, random, named("include")), {
      value: '["ops.*"]',
      says: "of a server in this file",
    });
  },
  "a missing quote": (base, random) => {
    const line = keyLine(base, random, ({ value }) => /^"[^"]*"$/.test(value));
    return edit(base, line, { value: line.value.slice(0, -1), says: "close the string" });
  },
  "text without quotes": (base, random) => {
    const line = keyLine(base, random, ({ value }) => /^"[a-z]+"$/.test(value) && value.length > 5);
    return edit(base, line, { value: line.value.replaceAll('"', ""), says: "text needs quotes" });
  },
  "a colon for an equals sign": (base, random) => {
    const line = keyLine(base, random, () => true);
    return { bytes: withLine(base, line.at, `${line.key}: ${line.value}`), line: line.at + 1, says: "equals sign" };
  },
  "a key twice": (base, random) => {
    const line = keyLine(base, random, () => true);
    const text = base.lines[line.at] as string;
    return { bytes: withLine(base, line.at, text, text), line: line.at + 2, says: "stands once" };
  },
  "a list that is not closed": (base, random) => {
    const line = keyLine(base, random, ({ value }) => value.startsWith("[") && value.endsWith("]"));
    return { bytes: withLine(base, line.at, `${line.key} = ${line.value.slice(0, -1)}`), says: "isthmus.toml:" };
  },
  "a table in single brackets": (base) => {
    const bytes = Buffer.from(base.lines.map((line) => (line === "[[servers]]" ? "[servers]" : line)).join("\n"));
    return { bytes, says: "[[servers]]" };
  },
  "a bracket too few": (base, random) => {
    const headers = base.lines.flatMap((line, at) => (line.startsWith("[[") ? [at] : []));
    const at = random.pick(headers);
    return { bytes: withLine(base, at, (base.lines[at] as string).slice(0, -1)), line: at + 1, says: "[[servers]]" };
  },
  "a file that ends in the middle": (base, random) => {
    const line = keyLine(base, random, ({ value }) => value.startsWith('"'));
    const text = [...base.lines.slice(0, line.at), `${line.key} = "${line.value.charAt(1)}`].join("\n");
    return { bytes: Buffer.from(text), line: line.at + 1, says: "close the string" };
  },
  "bytes that are no text": (_base, random) => {
    return { bytes: Buffer.from([0xff, ...Array.from({ length: 4096 }, () => random.below(256))]), line: 1 };
  },
  "text in another encoding": (base, random) => {
    const line = keyLine(base, random, () => true);
    const bytes = withLine(base, line.at, `${line.key} = ${line.value} # caf\u00e9`);
    return { bytes: Buffer.from(bytes.toString("utf8"), "latin1"), line: line.at + 1, says: "save the file as UTF-8" };
  },
  "a huge file": (base) => {
    const comment = `# ${"x".repeat(1022)}\n`.repeat(5 * 1024);
    return { bytes: Buffer.from(base.lines.join("\n") + comment), says: "larger than" };
  },
  "lists in lists in lists": (base, random) => {
    const depth = 1001 + random.below(1000);
    const bytes = Buffer.from(`${base.lines.join("\n")}\nx = ${"[".repeat(depth)}${"]".repeat(depth)}`);
    return { bytes, line: base.lines.length + 1, says: "nested" };
  },
  "keys in keys in keys": (base, random) => {
    const depth = 1000 + random.below(10_000);
    return { bytes: Buffer.from(`${"a.".repeat(depth)}b = 1\n${base.lines.join("\n")}`), line: 1, says: "unknown key" };
  },
  "JSON instead of TOML": (_base, random) => {
    const servers = { crm: { command: "node", args: [String(random.below(10))] } };
    return { bytes: Buffer.from(JSON.stringify({ mcpServers: servers }, null, 2)), line: 1, says: "looks like JSON" };
  },
  "a fault behind CRLF line ends": (base, random) => {
    const line = keyLine(base, random, named("url"));
    const bytes = withLine(base, line.at, `${line.key} = "x"`);
    return { bytes: Buffer.from(`\uFEFF${bytes.toString().replaceAll("\n", "\r\n")}`), line: line.at + 1 };
  },
};
