import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, createServer as createTlsServer } from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { HttpResponse } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { GET, post } from "../http/fixtures/raw-client.ts";
import { ask, hopRig, KEY } from "./fixtures/hop-rig.ts";
import { agreeOnKey, hopKey } from "./hop-key.ts";

const OTHER_KEY = KEY.replace("0", "1");
const LOST = { type: "lost", wasSent: false };

async function guardedHome() {
  const rig = hopRig();
  const home = await rig.start();
  let served = 0;
  home.handler = (_request, _body, response) => {
    served++;
    response.answer(200, "", "secret");
  };
  return Object.assign(rig, { home, served: () => served });
}

/** What a stranger gets when it speaks TLS. */
async function strangerGets(address: string, options: ConnectionOptions): Promise<string> {
  const [host, port] = address.split(":");
  let got = "";
  const socket = connectTls({ host, port: Number(port), rejectUnauthorized: false, ...options });
  socket.on("secureConnect", () => socket.write(GET));
  socket.on("data", (bytes) => {
    got += bytes;
  });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.on("close", resolve));
  return got;
}

describe("the door between processes", () => {
  test("stays shut for a process with another key", async () => {
    await using rig = await guardedHome();
    const edge = await rig.start({ key: OTHER_KEY });
    edge.to = rig.home.self;
    expect(JSON.parse((await ask(edge.port, post("x"))).body)).toEqual(LOST);
    expect(rig.served()).toBe(0);
    expect(rig.home.log.lines.map(({ message }) => message)).toContain("stranger at the cluster's door");
  });

  test("stays shut for whoever speaks HTTP without TLS", async () => {
    await using rig = await guardedHome();
    const socket = rig.socket(rig.home.self.address);
    let got = "";
    socket.on("data", (bytes) => {
      got += bytes.toString("latin1");
    });
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nisthmus-hop: 1 ${rig.home.self.id}\r\n\r\n`);
    await new Promise((resolve) => socket.on("close", resolve));
    expect(got).not.toContain("HTTP");
    expect(rig.served()).toBe(0);
  });

  test.each<[string, ConnectionOptions]>([
    ["no key", {}],
    ["no key, in TLS 1.2", { maxVersion: "TLSv1.2" }],
    ["the key as the operator wrote it", { pskCallback: () => ({ psk: Buffer.from(KEY), identity: "member-9" }) }],
    [
      "the key in TLS 1.2",
      {
        maxVersion: "TLSv1.2",
        ciphers: "PSK",
        pskCallback: () => ({ psk: hopKey(KEY), identity: "member-9" }),
        checkServerIdentity: () => undefined,
      },
    ],
  ])("stays shut for whoever speaks TLS with %s", async (_what, options) => {
    await using rig = await guardedHome();
    expect(await strangerGets(rig.home.self.address, options)).toBe("");
    expect(rig.served()).toBe(0);
  });

  test("opens to the key, and then asks whom the request is for", async () => {
    await using rig = await guardedHome();
    const options: ConnectionOptions = {
      pskCallback: () => ({ psk: hopKey(KEY), identity: "member-9" }),
      ciphers: "TLS_AES_128_GCM_SHA256",
    };
    const [host, port] = rig.home.self.address.split(":");
    const socket = connectTls({ host, port: Number(port), ...options });
    rig.onEnd(() => void socket.destroy());
    await once(socket, "secureConnect");
    socket.write(GET);
    const [bytes] = await once(socket, "data");
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 421 /);
    expect(rig.served()).toBe(0);
  });
});

describe("strangers in great numbers", () => {
  const TOLD = "stranger at the cluster's door";
  const told = ({ log }: { log: { lines: readonly { message: string }[] } }) =>
    log.lines.filter(({ message }) => message === TOLD);

  /** Connections that say nothing, and how many of them are open. */
  async function hold(rig: ReturnType<typeof hopRig>, address: string, count: number, localAddress = "127.0.0.1") {
    const [host = "", port] = address.split(":");
    const sockets = new Set<Socket>();
    for (let made = 0; made < count; made++) {
      const socket = connectTcp({ host, port: Number(port), localAddress });
      sockets.add(socket);
      rig.onEnd(() => void socket.destroy());
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      // What is closed by the other end is closed here when that is read.
      socket.resume();
      await once(socket, "connect");
    }
    return sockets;
  }

  test("hold a few connections, whatever they try, and keep no member out", async () => {
    await using rig = await guardedHome();
    const edge = await rig.start();
    edge.to = rig.home.self;
    const held = await hold(rig, rig.home.self.address, 300);
    await vi.waitFor(() => expect(held.size).toBeLessThanOrEqual(64));
    expect((await ask(edge.port, post("x"))).body).toBe("secret");
    expect(held.size).toBeGreaterThan(0);
  });

  test("end nothing that a member has open", async () => {
    await using rig = await guardedHome();
    const edge = await rig.start();
    edge.to = rig.home.self;
    rig.home.handler = (_request, _body, response) => {
      response.open(200, "");
      response.write("first");
      streams.push(response);
    };
    const streams: HttpResponse[] = [];
    const client = rig.client(edge);
    client.write(GET);
    await client.until(({ text }) => text.includes("first"));
    const held = await hold(rig, rig.home.self.address, 300);
    await vi.waitFor(() => expect(held.size).toBeLessThanOrEqual(64));
    streams[0]?.write("second");
    await client.until(({ text }) => text.includes("second"));
  });

  test("are closed before whoever comes from elsewhere, although that one came first", async () => {
    await using rig = await guardedHome();
    const [elsewhere] = await hold(rig, rig.home.self.address, 1, "127.0.0.2");
    const held = await hold(rig, rig.home.self.address, 300);
    await vi.waitFor(() => expect(held.size).toBeLessThan(64));
    expect(elsewhere?.destroyed).toBe(false);
  });

  test("make one line in the log each minute, with their number", async () => {
    await using rig = await guardedHome();
    const { home } = rig;
    for (let came = 0; came < 100; came++) {
      const socket = rig.socket(home.self.address).resume();
      socket.write(GET);
      await once(socket, "close");
    }
    expect(told(home)).toHaveLength(1);
    rig.time.advance(60_000);
    rig.socket(home.self.address).write(GET);
    await vi.waitFor(() => expect(told(home)).toHaveLength(2));
    expect(told(home)[1]).toMatchObject({ level: "warn", fields: { untold: 99, cause: expect.any(Error) } });
  });

  test("do not delay the end of a process", async () => {
    await using rig = await guardedHome();
    const held = await hold(rig, rig.home.self.address, 10);
    const began = performance.now();
    await rig.home.hop.close();
    expect(performance.now() - began).toBeLessThan(4_000);
    await vi.waitFor(() => expect(held.size).toBe(0));
  });
});

describe("a process that goes to the wrong door", () => {
  async function goTo(rig: ReturnType<typeof hopRig>, port: number, connectTimeoutMs?: number) {
    const edge = await rig.start({ ...(connectTimeoutMs && { connectTimeoutMs }) });
    edge.to = { id: "home", address: `127.0.0.1:${port}` };
    return JSON.parse((await ask(edge.port, post("a secret"))).body);
  }

  test.each(["1", "0"])("says nothing to a server that has a certificate, with trust at %s", async (trust) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", trust);
    await using rig = hopRig();
    rig.onEnd(() => void vi.unstubAllEnvs());
    const read = (name: string) => readFileSync(new URL(`../../providers/mcp/http/fixtures/${name}`, import.meta.url));
    let got = "";
    const server = createTlsServer({ cert: read("localhost-cert.pem"), key: read("localhost-key.pem") }, (socket) => {
      socket.on("data", (bytes) => {
        got += bytes;
      });
      socket.on("error", () => {});
    });
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    rig.onEnd(() => void server.close());
    await once(server, "listening");
    expect(await goTo(rig, (server.address() as AddressInfo).port)).toEqual(LOST);
    expect(got).toBe("");
  });

  test("does not wait for one who takes the connection and never says a word", async () => {
    await using rig = hopRig();
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => void sockets.push(socket.resume().on("error", () => {})));
    server.listen(0, "127.0.0.1");
    rig.onEnd(() => void server.close());
    rig.onEnd(() => {
      for (const socket of sockets) socket.destroy();
    });
    await once(server, "listening");
    expect(await goTo(rig, (server.address() as AddressInfo).port, 50)).toEqual(LOST);
  });

  test("hears at once that nobody is there", async () => {
    await using rig = hopRig();
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    expect(await goTo(rig, port)).toEqual(LOST);
  });

  test.each(["", "nowhere", "127.0.0.1:70000", "a:b:1"])("has nowhere to go to a member at %j", async (address) => {
    await using rig = hopRig();
    const edge = await rig.start();
    edge.to = { id: "home", address };
    expect(JSON.parse((await ask(edge.port, post("x"))).body)).toEqual(LOST);
  });
});

describe("the key", () => {
  test("is refused when it is short, and is not what the operator wrote", () => {
    expect(() => hopKey("short")).toThrow("at least 32 bytes");
    expect(hopKey(KEY)).toHaveLength(32);
    expect(hopKey(KEY)).not.toEqual(hopKey(OTHER_KEY));
  });

  test("is the same for all who agree on one, in whatever order they come", async () => {
    const time = new ManualTime();
    const { entries } = createMemorySharedState({ clock: time });
    const keys = await Promise.all([agreeOnKey(entries), agreeOnKey(entries), agreeOnKey(entries)]);
    time.advance(365 * 24 * 3600 * 1000);
    keys.push(await agreeOnKey(entries));
    expect(new Set(keys).size).toBe(1);
    expect(() => hopKey(keys[0] as string)).not.toThrow();
  });
});
