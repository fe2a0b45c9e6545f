import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDelivery, type Deliveries, type OutboundMessage } from "../../../src/mechanisms/delivery/index.ts";
import { systemClock } from "../../../src/server/clock.ts";
import { KeptLog, KeptMeter } from "../../kit/quiet.ts";
import { type OpenStore, timers } from "./rig.ts";

type Setting = { readonly beforePost?: () => Promise<void>; readonly leaseMs?: number };

/** Delivery over HTTP, with short times. */
export function makeDelivery({ records }: Pick<OpenStore, "records">, setting: Setting = {}): Deliveries {
  const send = async (message: OutboundMessage, signal: AbortSignal) => {
    await setting.beforePost?.();
    await post(message, signal);
  };
  return createDelivery({
    ...{ records, clock: systemClock, timers: timers(), log: new KeptLog(), meter: new KeptMeter() },
    senders: new Map([["hook", send]]),
    limits: { sendMs: 5_000, leaseMs: setting.leaseMs ?? 500, lookEveryMs: 50, firstWaitMs: 50 },
  });
}

async function post({ id, target, body }: OutboundMessage, signal: AbortSignal): Promise<void> {
  const response = await fetch(target, { method: "POST", headers: { "delivery-id": id }, body, signal });
  if (!response.ok) throw new Error(`answered ${response.status}`);
}

/** Somebody outside, who notes down the ids of what he gets. */
export async function openMailbox(): Promise<{ url: string; got: string[]; close(): Promise<void> }> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      got.push(String(request.headers["delivery-id"]));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    got,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
