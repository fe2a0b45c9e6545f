import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { Ending } from "../ending.ts";
import { status } from "../verbs/status.ts";
import { NoAnswer } from "./channel.ts";
import { nobodyThere } from "./nobody-there.ts";

describe("where no gateway answers", () => {
  const lines = async (url: string, why: string, isNobody: boolean) =>
    (await nobodyThere(new URL("/api/about", url), new NoAnswer(why, isNobody), { url })).lines;

  test("a verb says so, and how one is started: here, or where it was to be", async () => {
    expect(await lines("http://127.0.0.1:7411", "ECONNREFUSED", true)).toEqual([
      'no gateway runs at http://127.0.0.1:7411 (ECONNREFUSED); "isthmus up" starts one',
    ]);
    expect(await lines("https://gw.example.com", "ENOTFOUND", true)).toEqual([
      "no gateway runs at https://gw.example.com (ENOTFOUND); start it there, or name another with --url",
    ]);
  });

  test("a verb does not say that nothing runs where something took the connection", async () => {
    const server = createServer((socket) => socket.resetAndDestroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const thrown: unknown = await status({ url }).catch((error: unknown) => error);
    server.close();
    expect(thrown).toBeInstanceOf(Ending);
    expect((thrown as Ending).lines).toEqual([
      `what listens at ${url} gave no answer of a gateway (ECONNRESET); is it another program? "isthmus doctor" looks`,
    ]);
  });
});
