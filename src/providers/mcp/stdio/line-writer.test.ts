import { Writable } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { createLineWriter } from "./line-writer.ts";

/** A stream that notes each write and takes it when told to. */
function slowStream() {
  const writes: string[] = [];
  let take: (() => void) | undefined;
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 10,
    write(text: string, encoding, callback) {
      writes.push(`${encoding}:${text}`);
      take = callback;
    },
  });
  return { stream, writes, take: () => take?.() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("createLineWriter", () => {
  test("joins the lines of one turn into one write", async () => {
    const { stream, writes } = slowStream();
    const writer = createLineWriter(stream, () => {});
    writer.write("a");
    await Promise.resolve();
    writer.write("b");
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual(["latin1:a\nb\n"]);
  });

  test("keeps what is written to a full stream, and tells of the drain once", async () => {
    const { stream, writes, take } = slowStream();
    const onDrain = vi.fn();
    const writer = createLineWriter(stream, onDrain);
    expect(writer.write("0123456789")).toBe(true);
    await turn();
    expect(writer.write("x")).toBe(false);
    await turn();
    expect(onDrain).not.toHaveBeenCalled();
    take();
    await turn();
    take();
    await turn();
    expect(onDrain).toHaveBeenCalledOnce();
    expect(writes).toEqual(["latin1:0123456789\n", "latin1:x\n"]);
  });

  test("writes what waits before it ends, and nothing after", async () => {
    const { stream, writes, take } = slowStream();
    const writer = createLineWriter(stream, () => {});
    writer.write("a");
    writer.end();
    writer.end();
    expect(writer.write("b")).toBe(false);
    take();
    await turn();
    expect(writes).toEqual(["latin1:a\n"]);
    expect(stream.writableFinished).toBe(true);
  });
});

describe("the lines that were not sent", () => {
  test("are those that wait, and those the stream holds behind others, until it has begun with them", async () => {
    const { stream, take } = slowStream();
    const writer = createLineWriter(stream, () => {});
    writer.write("a", "1");
    expect(writer.unsent).toEqual(["1"]);
    await turn();
    expect(writer.unsent).toEqual([]); // being written
    writer.write("b", "2");
    writer.write("c", "3");
    await turn();
    expect(writer.unsent).toEqual(["2", "3"]);
    take();
    await turn();
    expect(writer.unsent).toEqual([]);
  });

  test("are all that come after the stream has failed", async () => {
    const stream = new Writable({ write: (_text, _encoding, callback) => callback(new Error("closed")) });
    stream.on("error", () => {});
    const writer = createLineWriter(stream, () => {});
    writer.write("a", "1");
    await turn();
    writer.write("b", "2");
    expect(writer.unsent).toEqual(["1", "2"]);
  });
});
