import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { isPublicAddress } from "./address-rules.ts";
import { createEgress } from "./egress.ts";
import type { Trust } from "./find-address.ts";

const HERE: Trust = { origins: [], loopback: true };

async function serve(listener: RequestListener): Promise<AsyncDisposable & { origin: string; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A peer that says what it likes. */
async function serveBytes(talk: (socket: Socket) => void): Promise<AsyncDisposable & { origin: string }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("data", () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const pointsTo = (...addresses: string[]) => ({
  resolve: async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
});

describe("createEgress", () => {
  test.each([
    "https://127.0.0.1/",
    "https://localhost/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://0/",
    "https://10.0.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://[ff02::1]/",
    "https://①②⑦.⓪.⓪.①/",
    "http://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "https://user:secret@example.com/",
    "not a url",
  ])("refuses %s before anything is sent", async (url) => {
    const egress = createEgress(url.includes("example.com") || url.includes("user:") ? pointsTo("93.184.216.34") : {});
    const refused = await egress.fetch({ url }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "EgressFault", reason: "refused" });
    expect(String(refused)).not.toContain("secret");
  });

  test.each([
    ["one private address", ["10.1.2.3"]],
    ["a public and a private one", ["93.184.216.34", "127.0.0.1"]],
    ["an address that maps another", ["::ffff:10.0.0.1"]],
  ])("refuses a name with %s", async (_what, addresses) => {
    const fetched = createEgress(pointsTo(...addresses)).fetch({ url: "https://rebind.example/" });
    await expect(fetched).rejects.toMatchObject({ reason: "refused" });
  });

  test("connects to the address that it judged, whatever the name means a moment later", async () => {
    await using server = await serve((_request, response) => response.end("first"));
    let asked = 0;
    const resolve = async () => [{ address: asked++ === 0 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
    const { body } = await createEgress({ resolve }).fetch({ url: `http://name.example:${server.port}/` }, HERE);
    expect([body, asked]).toEqual(["first", 1]);
  });

  test("reaches what an operator wrote down, wherever that is", async () => {
    await using server = await serve((request, response) => response.end(request.headers["user-agent"]));
    const trust = { origins: [server.origin], loopback: false };
    expect(await createEgress().fetch({ url: `${server.origin}/x` }, trust)).toMatchObject({
      status: 200,
      body: "isthmus",
    });
    const other = createEgress().fetch({ url: "http://127.0.0.1:1/x" }, trust);
    await expect(other).rejects.toMatchObject({ reason: "refused" });
  });

  test("judges each redirect anew, and follows only a few", async () => {
    await using server = await serve((request, response) => {
      const to = request.url === "/out" ? "https://169.254.169.254/" : `/${Number(request.url?.slice(1)) + 1}`;
      if (request.url === "/3") response.end("there");
      else response.writeHead(302, { location: to }).end();
    });
    const egress = createEgress();
    expect(await egress.fetch({ url: `${server.origin}/0` }, HERE)).toMatchObject({ body: "there" });
    await expect(egress.fetch({ url: `${server.origin}/out` }, HERE)).rejects.toMatchObject({ reason: "refused" });
    await expect(egress.fetch({ url: `${server.origin}/9` }, HERE)).rejects.toMatchObject({ reason: "refused" });
  });

  test("never takes a form, and what it carries, to another place", async () => {
    await using server = await serve((_request, response) => response.writeHead(307, { location: "/next" }).end());
    const sent = createEgress().fetch({ url: server.origin, body: "client_secret=x" }, HERE);
    await expect(sent).rejects.toMatchObject({ reason: "refused" });
  });

  test("gives up an answer that is too large, or does not come", async () => {
    await using large = await serve((_request, response) => response.end("x".repeat(2000)));
    await using silent = await serve(() => undefined);
    const egress = createEgress({ maxBytes: 1000, timeoutMs: 200 });
    await expect(egress.fetch({ url: large.origin }, HERE)).rejects.toMatchObject({ reason: "invalid" });
    await expect(egress.fetch({ url: silent.origin }, HERE)).rejects.toMatchObject({ reason: "unreachable" });
  });

  test.each([
    [
      "changes the protocol",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      "invalid",
    ],
    ["says that it will answer, again and again", "HTTP/1.1 102 Processing\r\n\r\n".repeat(9), "unreachable"],
    ["stops in the middle of its answer", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", "unreachable"],
    ["hangs up", "", "unreachable"],
  ])("does not wait for a peer that %s", async (what, said, reason) => {
    await using server = await serveBytes((socket) => (what === "hangs up" ? socket.destroy() : socket.write(said)));
    const fetched = createEgress({ timeoutMs: 200 }).fetch({ url: server.origin }, HERE);
    await expect(fetched).rejects.toMatchObject({ name: "EgressFault", reason });
  });

  test("does not wait for a resolver that hangs", async () => {
    const egress = createEgress({ resolve: () => new Promise(() => undefined), timeoutMs: 50 });
    await expect(egress.fetch({ url: "https://slow.example/" })).rejects.toMatchObject({ reason: "unreachable" });
  });
});

describe("isPublicAddress", () => {
  test.each(["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111"])("takes %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    "",
    "localhost",
    "255.255.255.255",
    "224.0.0.1",
    "2001:db8::1",
    "2001::1",
    "100::1",
    "fec0::1",
    "4000::1",
  ])("takes no %j", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
