import { describe, expect, test } from "vitest";
import { parsePieces } from "./parse-pieces.ts";

const read = (text: string) => parsePieces(Buffer.from(text)).table;

describe("parsePieces", () => {
  test("reads a file that is whole as it is", () => {
    expect(read('[gateway]\nlisten = "a:1"\n[[servers]]\nid = "a"\n[servers.env]\nX = "1"\n')).toEqual({
      gateway: { listen: "a:1" },
      servers: [{ id: "a", env: { X: "1" } }],
    });
  });

  test("leaves out the line that is broken, and nothing else of its table", () => {
    expect(read('[gateway]\nlisten = "a:1"\nsse = \nnaming = "dotted"\n')).toEqual({
      gateway: { listen: "a:1", naming: "dotted" },
    });
  });

  test("leaves out a table whose head is broken, and puts the others together", () => {
    const servers = '[[servers]]\nid = "a"\n[servers.env]\nX = "1"\n[[servers]]\nid = "b"\n';
    expect(read(`[gateway]\nlisten = "a:1"\n[gateway.tls]\ncert = "c"\n[log\nlevel = "info"\n${servers}`)).toEqual({
      gateway: { listen: "a:1", tls: { cert: "c" } },
      servers: [{ id: "a" }, { id: "b" }],
    });
  });

  test("makes nothing of what is no TOML at all", () => {
    expect(read('{ "gateway": { "listen": "a:1" } }')).toEqual({});
    expect(parsePieces(Buffer.from([0xff, 0x5b, 0xfe])).table).toEqual({});
  });
});
