import type { CallEvent, Out, Stage } from "../../src/contract/index.ts";

export type Probe = { readonly ends: CallEvent[]; thrown: unknown; isThrough: boolean };

/** Stands where audit will stand: around everything, seeing how each call ends. */
export function probeStage(probes: Map<string, Probe>): Stage {
  return async function probe(call, out, next) {
    const seen: Probe = { ends: [], thrown: undefined, isThrough: false };
    probes.set(call.id, seen);
    const watched: Out = {
      ready: () => out.ready(),
      write(event) {
        if (event.type === "end" || event.type === "error") seen.ends.push(event);
        return out.write(event);
      },
    };
    try {
      await next(call, watched);
    } catch (error) {
      seen.thrown = error;
      throw error;
    } finally {
      seen.isThrough = true;
    }
  };
}
