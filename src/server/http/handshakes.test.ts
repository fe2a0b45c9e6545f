import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { Handshakes } from "./handshakes.ts";

class FakeSocket extends EventEmitter {
  isDestroyed = false;
  bytesWritten = 0;
  readonly localAddress = "10.0.0.1";
  readonly localPort = 443;
  readonly remoteAddress: string;
  readonly remotePort: number;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
}

function rig(most: number) {
  const handshakes = new Handshakes(most);
  let port = 1;
  const connect = (address: string) => {
    const socket = new FakeSocket(address, port++);
    handshakes.add(socket as unknown as Socket);
    return socket;
  };
  const end = (socket: FakeSocket) => handshakes.end(socket as unknown as Socket);
  return { handshakes, connect, end };
}

const states = (sockets: FakeSocket[]) => sockets.map(({ isDestroyed }) => isDestroyed);

describe("Handshakes", () => {
  test("break off the oldest of the network that has most for a new one", () => {
    const { connect } = rig(3);
    const other = connect("2.2.2.2");
    const first = [connect("2001:db8::1"), connect("2001:db8::2")];
    const more = connect("3.3.3.3");
    expect(states([other, ...first, more])).toEqual([false, true, false, false]);
  });

  test("break off those first that have not said enough to be answered", () => {
    const { connect } = rig(2);
    const [answered, silent] = [connect("1.1.1.1"), connect("1.1.1.1")];
    answered.bytesWritten = 1;
    const next = connect("1.1.1.1");
    expect(states([answered, silent, next])).toEqual([false, true, false]);
    next.bytesWritten = 1;
    connect("1.1.1.1");
    expect(states([answered, next])).toEqual([true, false]);
  });

  test("do not count those that have come through, or are gone", () => {
    const { connect, end } = rig(2);
    const [through, gone] = [connect("1.1.1.1"), connect("1.1.1.1")];
    end(through);
    gone.destroy();
    const rest = [connect("1.1.1.1"), connect("1.1.1.1")];
    expect(states([through, ...rest])).toEqual([false, false, false]);
    connect("1.1.1.1");
    expect(states([through, ...rest])).toEqual([false, true, false]);
  });

  test("are broken off together", () => {
    const { connect, handshakes } = rig(9);
    const all = [connect("1.1.1.1"), connect("2.2.2.2")];
    handshakes.closeAll();
    expect(states(all)).toEqual([true, true]);
  });
});
