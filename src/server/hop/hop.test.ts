import { describe, expect, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../contract/index.ts";
import { GET, post, turn, until } from "../http/fixtures/raw-client.ts";
import { ask, echo, hopRig, unchunk } from "./fixtures/hop-rig.ts";

const allBytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join("");

describe("a request that is handed to another process", () => {
  test("is served at the home that shared state names, and its answer comes back [AP-101]", async () => {
    await using rig = hopRig();
    const [edge, home] = [await rig.start(), await rig.start()];
    await rig.state.entries.claim("session:s", home.self.id, { value: "", ttlMs: 1e6 });
    const entry = await rig.state.entries.claim("session:s", edge.self.id);
    edge.to = entry?.home;
    home.handler = (request, body, response) => {
      const { method, url, headers } = request;
      expect({ method, url, body }).toEqual({ method: "POST", url: "/mcp?x=1", body: "abc" });
      expect(headers).toMatchObject({ host: "a", "mcp-session-id": "s" });
      response.answer(404, "Content-Type: text/plain\r\nMcp-Session-Id: s\r\n", "gone");
    };
    const answer = await ask(edge.port, post("abc", "Mcp-Session-Id: s\r\n").replace("/mcp", "/mcp?x=1"));
    expect(answer).toMatchObject({ status: 404, body: "gone" });
    expect(answer.head).toMatch(/\r\nContent-Type: text\/plain\r\nMcp-Session-Id: s\r\nContent-Length: 4$/);
    expect(answer.head.match(/^Date: /gim)).toHaveLength(1);
    expect(edge.ends).toEqual([{ type: "answered" }]);
  });

  test("leaves behind what is about one connection, and what its sender was known by", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    home.handler = (request, _body, response) => {
      const { headers } = request;
      response.answer(200, "Connection: x-private\r\nX-Private: 1\r\nX-Public: 2\r\n", JSON.stringify(headers));
    };
    const { head, body } = await ask(
      edge.port,
      post("", "Connection: keep-alive, x-own\r\nX-Own: 1\r\nTE: x\r\nX: y\r\nAuthorization: Bearer t\r\n"),
    );
    const own = { "isthmus-hop": `1 ${home.self.id}`, "isthmus-hop-address": "127.0.0.1" };
    expect(JSON.parse(body)).toEqual({ host: "a", x: "y", ...own });
    expect(head).toContain("X-Public: 2");
    expect(head).not.toMatch(/private/i);
  });

  test("is not believed when a client says how many processes it passed", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    const seen: number[] = [];
    home.handler = (request, body, response) => {
      seen.push(home.hop.passed(request), edge.hop.passed(request));
      echo(request, body, response);
    };
    const forged = `isthmus-hop: 3 ${home.self.id}\r\nisthmus-hop-principal: root\r\nisthmus-hop-address: 6.6.6.6\r\n`;
    const { status, body } = await ask(edge.port, post("", forged));
    expect(status).toBe(200);
    expect(seen).toEqual([1, 0]);
    const own = { "isthmus-hop": `1 ${home.self.id}`, "isthmus-hop-address": "127.0.0.1" };
    expect(JSON.parse(body).headers).toEqual({ host: "a", ...own });
  });

  test("bears the address of its client, which the first process found, through all others [AP-090]", async () => {
    await using rig = hopRig(["127.0.0.1"]);
    const [edge, second, home] = [await rig.start(), await rig.start(), await rig.start()];
    edge.to = second.self;
    second.handler = (request, body, response) => void second.hop.forward(request, body, response, home.self);
    home.handler = (request, _body, response) => response.answer(200, "", String(request.clientAddress));
    const say = async (lines: string) => (await ask(edge.port, post("", lines))).body;
    expect(await say("X-Forwarded-For: 6.6.6.6, 192.0.2.7\r\n")).toBe("192.0.2.7");
    expect(await say("isthmus-hop-address: 6.6.6.6\r\n")).toBe("127.0.0.1");
  });

  test("ends with 503 when the processes send it round in circles", async () => {
    await using rig = hopRig();
    const [a, b] = await rig.pair();
    let hops = 0;
    for (const [here, there] of [
      [a, b],
      [b, a],
    ] as const) {
      here.handler = (request, body, response) => {
        hops++;
        void here.hop.forward(request, body, response, there.self);
      };
    }
    const { status, head, body } = await ask(a.port, post("{}"));
    expect(status).toBe(503);
    expect(head).toMatch(/Retry-After: 1/);
    expect(JSON.parse(body)).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { data: { code: "STATE_UNAVAILABLE" } },
    });
    expect(hops).toBe(3);
  });

  test.each([0, 1, 70_000, 9_000_000])("and its answer of %i bytes arrive byte for byte", async (size) => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    const sent = allBytes.repeat(Math.ceil(size / 256)).slice(0, size);
    let isSame = false;
    home.handler = (_request, body, response) => {
      isSame = body === sent;
      response.answer(200, "", body);
    };
    const { status, body } = await ask(edge.port, post(sent));
    expect([status, isSame, body === sent]).toEqual([200, true, true]);
  });

  test("streams its answer as it is written", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let stream: HttpResponse | undefined;
    home.handler = (_request, _body, response) => {
      response.open(200, "Content-Type: text/event-stream\r\n");
      response.write(": hi\n\n");
      stream = response;
    };
    const client = rig.client(edge);
    client.write(GET);
    await client.until(({ text }) => text.includes(": hi\n\n"));
    for (let event = 0; event < 20; event++) {
      stream?.write(`data: ${event} ${allBytes}\n\n`);
      await client.until(({ text }) => text.includes(`data: ${event} ${allBytes}\n\n`));
    }
    stream?.end("last");
    await client.until(({ text }) => text.endsWith("last\r\n0\r\n\r\n"));
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*Content-Type: text\/event-stream\r\n\r\n/);
  });

  test("is not written faster than the client reads", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    const piece = allBytes.repeat(256);
    const total = 1000; // pieces of 64 KiB
    let written = 0;
    home.handler = (_request, _body, response) => {
      response.open(200, "");
      const pour = () => {
        while (written < total) {
          written++;
          if (!response.write(piece)) return;
        }
        response.onDrain = undefined;
        response.end();
      };
      response.onDrain = pour;
      pour();
    };
    const pieces: Buffer[] = [];
    const socket = rig.socket(`127.0.0.1:${edge.port}`);
    socket.write(GET);
    // It stands still once every buffer on the way is full.
    let before = -1;
    for (let quiet = 0; quiet < 500; quiet = written > 0 && written === before ? quiet + 1 : 0) {
      before = written;
      await turn();
    }
    expect(written).toBeLessThan(total / 2);
    socket.on("data", (bytes) => pieces.push(bytes));
    await until(() => pieces.at(-1)?.subarray(-5).toString() === "0\r\n\r\n", 1e6);
    const text = Buffer.concat(pieces).toString("latin1");
    const body = unchunk(text.slice(text.indexOf("\r\n\r\n") + 4));
    expect(written).toBe(total);
    expect(body === piece.repeat(total)).toBe(true);
  });

  test("is one of a hundred at a time", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    const waiting: (() => void)[] = [];
    home.handler = (_request, body, response) => {
      waiting.push(() => response.answer(200, "", `<${body}>`));
      if (waiting.length === 100) for (const answer of waiting) answer();
    };
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(edge.port, post(`call ${index}`))));
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 100 }, (_, index) => `<call ${index}>`));
    expect(edge.ends).toHaveLength(100);
  });

  test("is answered to HEAD without a body", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    home.handler = (_request, _body, response) => response.answer(405, "Allow: POST\r\n", "nothing");
    const client = rig.client(edge);
    for (let round = 1; round <= 2; round++) {
      client.write(GET.replace("GET", "HEAD"));
      await client.until(({ statuses }) => statuses.length === round);
    }
    expect(client.text).toMatch(/Allow: POST/);
    expect(client.text).not.toContain("nothing");
  });
});

describe("a client that leaves", () => {
  test.each<[string, (response: HttpResponse) => void]>([
    ["before the answer", () => {}],
    [
      "in the middle of a stream",
      (response) => {
        response.open(200, "");
        response.write("begun");
      },
    ],
  ])("%s is seen to leave at the home", async (_when, begin) => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let isSeen = false;
    let isThere = false;
    home.handler = (_request, _body, response) => {
      response.onClose = () => {
        isSeen = true;
      };
      begin(response);
      isThere = true;
    };
    const client = rig.client(edge);
    client.write(GET);
    await until(() => isThere);
    await turn();
    client.socket.destroy();
    await until(() => isSeen && edge.ends.length === 1);
    expect(edge.ends).toEqual([{ type: "answered" }]);
  });

  test("before its turn costs the home nothing", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let served = 0;
    home.handler = (_request, _body, response) => {
      served++;
      response.answer(200, "", "");
    };
    const over = { isOver: true } as HttpResponse;
    const request = { method: "GET", url: "/", headers: {} } as HttpRequest;
    expect(await edge.hop.forward(request, "", over, home.self)).toEqual({ type: "answered" });
    expect(served).toBe(0);
  });
});

describe("a home that is lost", () => {
  test("before its answer leaves the response to the caller, who hears that the request was sent", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    home.handler = () => home.hop.cutAll();
    const { status, body } = await ask(edge.port, post("x"));
    expect([status, JSON.parse(body)]).toEqual([502, { type: "lost", wasSent: true }]);
  });

  test("in the middle of its answer breaks that off, so that the client sees it", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let cut = () => {};
    home.handler = (_request, _body, response) => {
      response.open(200, "");
      response.write("half");
      cut = () => response.cut();
    };
    const client = rig.client(edge);
    client.write(GET);
    await client.until(({ text }) => text.endsWith("4\r\nhalf\r\n"));
    cut();
    await client.until(({ isEnded }) => isEnded);
    expect(client.text.endsWith("4\r\nhalf\r\n")).toBe(true);
    await until(() => edge.ends.length === 1);
    expect(edge.ends).toEqual([{ type: "lost", wasSent: true }]);
  });

  test("by its lease, while it says nothing, is not waited for", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let isThere = false;
    home.handler = () => {
      isThere = true;
    };
    const answer = ask(edge.port, post("x"));
    await until(() => isThere);
    rig.time.advance(300);
    await turn();
    expect(edge.ends).toEqual([]);
    await rig.state.members.leave(home.self.id);
    rig.time.advance(300);
    expect(JSON.parse((await answer).body)).toEqual({ type: "lost", wasSent: true });
  });

  test("is still waited for while the store cannot say", async () => {
    await using rig = hopRig();
    const down = { ...rig.state, members: { ...rig.state.members, find: () => Promise.reject(new Error("away")) } };
    const [edge, home] = [await rig.start({ state: down }), await rig.start()];
    edge.to = home.self;
    let answer: (() => void) | undefined;
    home.handler = (_request, _body, response) => {
      answer = () => response.answer(200, "", "well");
    };
    const asked = ask(edge.port, post("x"));
    await until(() => answer !== undefined);
    rig.time.advance(5_000);
    await turn();
    answer?.();
    expect((await asked).body).toBe("well");
  });
});

describe("a connection between two processes", () => {
  test("that was closed while it was idle is replaced, and the request is not lost", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let served = 0;
    home.handler = (_request, _body, response) => response.answer(200, "", String(++served));
    await ask(edge.port, post("x"));
    Object.defineProperty(edge, "to", {
      get() {
        home.hop.cutAll(); // right before the request is handed over: the edge has not looked yet
        return home.self;
      },
    });
    for (let round = 2; round <= 6; round++) {
      rig.time.advance(2_000);
      expect((await ask(edge.port, post("x"))).body).toBe(String(round));
    }
    expect(edge.ends.every((end) => end.type === "answered")).toBe(true);
  });

  test("is used again", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    const sockets = new Set<unknown>();
    home.handler = (request, _body, response) => {
      sockets.add(request.headers); // the same object for each request of one connection
      response.answer(200, "", "");
    };
    for (let round = 0; round < 5; round++) await ask(edge.port, post("x"));
    expect(sockets.size).toBe(1);
  });

  test("to whoever lives there now is not believed to be the one who was meant", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let served = 0;
    home.handler = () => void served++;
    edge.to = { id: "who-lived-there-before", address: home.self.address };
    expect(JSON.parse((await ask(edge.port, post("x"))).body)).toEqual({ type: "lost", wasSent: false });
    expect(served).toBe(0);
  });

  test("to a process that drains brings back what has begun, and nothing new", async () => {
    await using rig = hopRig();
    const [edge, home] = await rig.pair();
    let answer: (() => void) | undefined;
    home.handler = (_request, _body, response) => {
      answer = () => response.answer(200, "", "begun before");
    };
    const first = ask(edge.port, post("x"));
    await until(() => answer !== undefined);
    home.hop.drain();
    expect(JSON.parse((await ask(edge.port, post("x"))).body)).toEqual({ type: "lost", wasSent: false });
    answer?.();
    expect((await first).body).toBe("begun before");
  });

  test("is not written to after our own lease", async () => {
    await using rig = hopRig();
    const [edge, home] = [await rig.start({ mayWrite: () => false }), await rig.start()];
    edge.to = home.self;
    let served = 0;
    home.handler = () => void served++;
    expect(JSON.parse((await ask(edge.port, post("x"))).body)).toEqual({ type: "lost", wasSent: false });
    expect(served).toBe(0);
  });

  test("too many of which are open is refused with 503", async () => {
    await using rig = hopRig();
    const [edge, home] = [await rig.start({ maxConnections: 1 }), await rig.start()];
    edge.to = home.self;
    let answer: (() => void) | undefined;
    home.handler = (_request, _body, response) => {
      answer = () => response.answer(200, "", "first");
    };
    const first = ask(edge.port, post("x"));
    await until(() => answer !== undefined);
    expect((await ask(edge.port, post("x"))).status).toBe(503);
    answer?.();
    expect((await first).body).toBe("first");
  });
});
