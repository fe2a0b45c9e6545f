import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../contract/index.ts";
import { bodiesOf, GET, post, rawRig, until } from "./fixtures/raw-client.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

describe("a request over HTTP", () => {
  test("is its peer's, unless a proxy that is trusted says otherwise; the next one of its connection may be another's", async () => {
    const proxies = new TrustedProxies(["127.0.0.1"]);
    await using rig = await rawRig({
      clientAddress: (peer, headers) => proxies.addressOf(peer, headers),
      onRequest: (request, response) => response.answer(200, "", String(request.clientAddress)),
    });
    const from = (address: string) => post("", `X-Forwarded-For: ${address}\r\n`);
    const { text } = await rig.exchange(from("192.0.2.1") + from("192.0.2.1") + from("2001:DB8::1") + post(""));
    expect(bodiesOf(text)).toEqual(["192.0.2.1", "192.0.2.1", "2001:db8::1", "127.0.0.1"]);
  });

  test("belongs to nobody any more when it is answered, or its client gone", async () => {
    const [answered, left] = [[], []] as [HttpRequest[], HttpRequest[]];
    await using rig = await rawRig({
      onRequest(request, response) {
        (request.method === "POST" ? answered : left).push(request);
        expect(request.clientAddress).toBe("127.0.0.1");
        if (request.method === "POST") response.answer(200, "", "");
      },
    });
    const client = rig.client();
    client.write(post("") + GET);
    await until(() => left.length === 1);
    expect(answered[0]?.clientAddress).toBeUndefined();
    client.socket.resetAndDestroy();
    await until(() => rig.listener.connections === 0);
    expect(left[0]?.clientAddress).toBeUndefined();
  });

  test("that cannot be understood is refused with the peer's name", async () => {
    const refused: unknown[] = [];
    await using rig = await rawRig({ onRefused: (status, peer) => refused.push([status, peer]) });
    await rig.exchange("no HTTP at all\r\n\r\n");
    expect(refused).toEqual([[400, "127.0.0.1"]]);
  });
});
