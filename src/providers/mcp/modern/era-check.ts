import { failureOf } from "../mcp-errors.ts";
import type { SessionSlot } from "../session-slot.ts";
import type { UpstreamTransport } from "../transport.ts";
import { UpstreamSession } from "../upstream-session.ts";
import { discover } from "./discover.ts";
import { ModernSide } from "./modern-side.ts";

const CHECK_MS = 10_000;

/** Asks a server that was of the 2025 era for its era again, beside what runs on its session. New calls go by the answer. */
export async function checkEra(slot: SessionSlot, transport: UpstreamTransport): Promise<void> {
  const probe = new UpstreamSession(slot, transport);
  probe.modern = new ModernSide(probe);
  try {
    await transport.open(probe);
    const found = transport.mayBeModern ? await discover(probe, CHECK_MS) : undefined;
    slot.eras.note(found ? "2026" : "2025");
    if (found && slot.ready) await slot.renew(slot.ready);
  } catch (error) {
    slot.log.debug("era not checked", { cause: failureOf(error).message });
  } finally {
    await probe.close();
  }
}
